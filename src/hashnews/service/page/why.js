// Why a hashtag is suggested: all reasons, the articles, and what the news says around it.

import { article as fetchArticle } from "/page/api.js";
import { before, element, longTime, marked, shortTime } from "/page/dom.js";

const FEW_ARTICLES = 3;
const MOST_WORDS = 20;
const EXCERPT = 420;

export function reasonsFor(suggestion, answer) {
  const sure = `About ${Math.round(100 * suggestion.on_topic)} in 100 hashtags like this are about the post.`;
  return [
    element("p", { class: "dim sure" }, sure),
    element("ul", { class: "reasons" }, ...suggestion.because.map(reasonItem)),
    ...articlesFor(suggestion, answer),
    ...wordsFor(suggestion, answer),
  ];
}

function reasonItem(reason) {
  const bar = element("span", { class: "share", "aria-hidden": "true" });
  bar.style.setProperty("--share", reason.weight);
  const says = reason.source === "author" ? reason.text.replace("used by the author", "you used it") : reason.text;
  return element("li", {}, element("span", { class: "source" }, reason.label), element("span", { class: "told" }, says), bar);
}

function articlesFor(suggestion, answer) {
  const named = new Set(suggestion.because.flatMap((reason) => reason.articles ?? []));
  const own = answer.articles.filter((article) => named.has(article.id));
  const shown = own.length ? own : answer.articles;
  if (!shown.length) return [];
  const moment = Date.parse(answer.post.created_at);
  const items = shown.map((article) => articleItem(article, moment));
  items.slice(FEW_ARTICLES).forEach((item) => (item.hidden = true));
  const more = element("button", { type: "button", class: "small more", hidden: shown.length <= FEW_ARTICLES }, `Show ${shown.length - FEW_ARTICLES} more`);
  more.addEventListener("click", () => {
    items.forEach((item) => (item.hidden = false));
    more.hidden = true;
    items[FEW_ARTICLES].querySelector("a, summary")?.focus();
  });
  return [element("h3", {}, own.length ? "In the news" : "News nearest to this post"), element("ol", { class: "articles" }, ...items), more];
}

function articleItem(article, moment) {
  const published = Date.parse(article.published_at);
  const title = marked(article.title || "Untitled", article.entities);
  const address = webAddress(article.url);
  const headline = address
    ? element("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, ...title)
    : element("span", {}, ...title);
  const time = element("time", { dateTime: article.published_at, title: `${longTime(published)} UTC` }, shortTime(published));
  const about = element("p", { class: "about dim" }, article.source ? `${article.source} · ` : "", time, ` · ${before(published, moment)}`);
  const text = element("p", { class: "excerpt" }, "…");
  const details = element("details", {}, element("summary", {}, "Read"), text);
  details.addEventListener("toggle", () => details.open && fill(text, article), { once: true });
  return element("li", {}, element("h4", {}, headline), about, details);
}

async function fill(place, found) {
  try {
    const whole = await fetchArticle(found.id);
    const cut = whole.text.length > EXCERPT ? `${whole.text.slice(0, EXCERPT).trimEnd()}…` : whole.text;
    place.replaceChildren(...marked(cut, found.entities));
  } catch (error) {
    place.textContent = error.message;
  }
}

// Anybody may have written a feed: only addresses of the web become links.
function webAddress(text) {
  try {
    const url = new URL(text);
    return ["http:", "https:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

function wordsFor(suggestion, answer) {
  const own = new Set([...suggestion.words, ...suggestion.because.flatMap((reason) => reason.words ?? [])]);
  const shown = answer.context.filter(([word], at) => at < MOST_WORDS || own.has(word));
  if (!shown.length) return [];
  const items = shown.map(([word]) => element("li", { class: own.has(word) ? "own" : "" }, word));
  return [element("h3", {}, "What the news says around it"), element("ul", { class: "words" }, ...items)];
}

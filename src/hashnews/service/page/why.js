// Why a hashtag is suggested: the reasons, the articles, the context words.

import { article as fetchArticle } from "/page/api.js";
import { $, before, element, longTime, marked, percent, shortTime } from "/page/dom.js";

const FEW_ARTICLES = 3;
const MOST_WORDS = 24;
const EXCERPT = 420;

export function showWhy(suggestion, answer) {
  $("why").hidden = false;
  $("why-name").replaceChildren("Why ", element("span", { class: "tag-name" }, suggestion.hashtag));
  $("why-score").textContent =
    `Of hashtags suggested with this confidence, about ${Math.round(100 * suggestion.score)} in 100 are used.`;
  showReasons(suggestion);
  showArticles(suggestion, answer);
  showWords(suggestion, answer);
}

// Where no hashtag fits, at least the news.
export function showNews(answer) {
  $("why").hidden = false;
  $("why-name").textContent = "The news before this post";
  $("why-score").textContent = "";
  $("reasons").replaceChildren();
  const nothing = { words: [], because: [] };
  showArticles(nothing, answer);
  showWords(nothing, answer);
}

function showReasons(suggestion) {
  const spoke = suggestion.because;
  const rows = spoke.map((reason) => {
    const bar = element("span", { class: "share", "aria-hidden": "true" });
    bar.style.setProperty("--share", reason.weight);
    const source = element("span", { class: "source" }, reason.label);
    const said = element("span", { class: "told" }, reason.text);
    const weight = element("span", { class: "weight" }, percent(reason.weight));
    return element("li", {}, source, said, bar, weight);
  });
  $("reasons").replaceChildren(...rows);
}

function showArticles(suggestion, answer) {
  const named = new Set(suggestion.because.flatMap((reason) => reason.articles ?? []));
  const own = answer.articles.filter((article) => named.has(article.id));
  const shown = own.length ? own : answer.articles;
  const moment = Date.parse(answer.post.created_at);
  $("news-part").hidden = shown.length === 0;
  $("news-name").textContent = own.length ? "In the news" : "News nearest to this post";
  const items = shown.map((article) => articleItem(article, moment));
  items.slice(FEW_ARTICLES).forEach((item) => (item.hidden = true));
  $("articles").replaceChildren(...items);
  const rest = shown.length - FEW_ARTICLES;
  $("more").hidden = rest <= 0;
  $("more").textContent = `Show ${rest} more`;
  $("more").onclick = () => {
    items.forEach((item) => (item.hidden = false));
    $("more").hidden = true;
    items[FEW_ARTICLES].querySelector("a, summary")?.focus();
  };
}

function articleItem(article, moment) {
  const published = Date.parse(article.published_at);
  const title = marked(article.title || "Untitled", article.entities);
  const address = webAddress(article.url);
  const headline = address
    ? element("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, ...title)
    : element("span", {}, ...title);
  const time = element("time", { dateTime: article.published_at, title: `${longTime(published)} UTC` }, shortTime(published));
  const about = element("p", { class: "about dim" }, [article.source, ""].filter(Boolean).join(""), article.source ? " · " : "", time, ` · ${before(published, moment)}`);
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

function showWords(suggestion, answer) {
  const own = new Set([...suggestion.words, ...suggestion.because.flatMap((reason) => reason.words ?? [])]);
  const shown = answer.context.filter(([word], at) => at < MOST_WORDS || own.has(word));
  const most = Math.max(...shown.map(([, weight]) => weight), 1e-9);
  $("words-part").hidden = shown.length === 0;
  $("words").replaceChildren(
    ...shown.map(([word, weight]) => {
      const number = element("span", { class: "weight" }, percent(weight / most));
      const item = element("li", { class: own.has(word) ? "own" : "", title: `weight ${weight.toPrecision(3)}` }, word, number);
      item.style.setProperty("--share", weight / most);
      return item;
    }),
  );
}

export function hideWhy() {
  $("why").hidden = true;
}

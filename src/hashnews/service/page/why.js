// Why a hashtag is suggested: the reasons, the articles, the context words.

import { article as fetchArticle } from "/page/api.js";
import { $, before, element, longTime, marked, percent, plural, shortTime } from "/page/dom.js";

const FEW_ARTICLES = 3;
const MOST_WORDS = 24;
const EXCERPT = 420;

const SOURCES = {
  post: "Your post",
  news: "News",
  memory: "Earlier posts",
  author: "Author’s habit",
  rising: "On the rise",
  together: "Goes together",
  season: "Time of the year",
  generator: "Written by the model",
};

function sentence(reason, suggestion) {
  const name = reason.entity;
  const count = reason.count ?? reason.posts?.length ?? 0;
  switch (reason.source) {
    case "post":
      return name ? ["names ", strong(name)] : ["says ", strong(suggestion.words.join(" "))];
    case "news": {
      if (!reason.articles.length) return ["the news says ", strong(reason.words.join(", "))];
      const articles = plural(reason.articles.length, "article");
      const rises = reason.rise > 1 ? [`, on the rise (${reason.rise.toFixed(1)})`] : [];
      return name ? [`${articles} about `, strong(name), ...rises] : [`${articles} that say `, strong(suggestion.words.join(" "))];
    }
    case "memory":
      return reason.posts.length ? [`in ${plural(count, "earlier post")} like this one`] : [`used ${plural(count, "time")} before`];
    case "author":
      return [`used ${plural(count, "time")} before`];
    case "rising": {
      const uses = count ? [`used ${plural(count, "time")} in the last week`] : ["used lately"];
      return reason.rise > 1 ? [...uses, `, ${reason.rise.toFixed(1)} times as often as before`] : uses;
    }
    case "together":
      return ["often used with hashtags of this post or of similar ones"];
    case "season":
      return [`used by ${plural(count, "author")} around this time in ${reason.day.slice(0, 4)}`];
    default:
      return reason.words.length
        ? ["written from the news words ", strong(reason.words.slice(0, 5).join(", "))]
        : ["written by the model from the post and the news"];
  }
}

const strong = (text) => element("strong", {}, text);

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
  const spoke = suggestion.because.filter((reason, at) => at === 0 || reason.weight >= 0.005);
  const rows = spoke.map((reason) => {
    const bar = element("span", { class: "share", "aria-hidden": "true" });
    bar.style.setProperty("--share", reason.weight);
    const source = element("span", { class: "source" }, SOURCES[reason.source] ?? reason.source);
    const said = element("span", { class: "told" }, ...sentence(reason, suggestion));
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

// The suggested hashtags: each with its variants, why at a glance, and all of it on demand.

import { $, before, element, plural } from "/page/dom.js";
import * as post from "/page/post.js";
import { curve } from "/page/rising.js";
import { reasonsFor } from "/page/why.js";

let actions; // toggle(hashtag, siblings), turn(hashtag, words), text()

export function startSuggestions(given) {
  actions = given;
  $("chips").addEventListener("keydown", pressed);
}

export const isRead = () => $("chips").querySelector('.ask[aria-expanded="true"]') !== null;

export function showSuggestions(answer, chosen) {
  const held = $("chips").contains(document.activeElement) ? document.activeElement : null;
  const open = $("chips").querySelector('.ask[aria-expanded="true"]')?.closest("li").dataset.hashtag;
  const found = answer?.suggestions ?? [];
  const offered = found.flatMap(({ hashtag, variants }) => [hashtag, ...variants]);
  const kept = [...chosen].filter((hashtag) => !offered.some((other) => post.same(other, hashtag)));
  $("chips").replaceChildren(
    ...kept.map((hashtag) => element("li", { class: "suggestion" }, tag(hashtag, []))),
    ...found.map((suggestion, at) => row(suggestion, answer, at)),
  );
  for (const item of $("chips").children) if (item.dataset.hashtag === open) item.querySelector(".ask")?.click();
  mark();
  if (held) focusAgain(held.className, held.closest("[data-hashtag]").dataset.hashtag);
}

// Nobody is torn from where the keyboard was: the same button of the same hashtag, or else its first.
function focusAgain(kind, hashtag) {
  const alike = [...$("chips").querySelectorAll("button")].filter((one) => one.closest("[data-hashtag]").dataset.hashtag === hashtag);
  (alike.find((one) => one.className === kind) ?? alike[0] ?? $("post")).focus({ preventScroll: true });
}

// What is chosen already, and which words of the text could become a hashtag.
export function mark() {
  const text = actions.text();
  for (const button of $("chips").querySelectorAll(".tag")) {
    button.setAttribute("aria-pressed", String(actions.has(button.dataset.hashtag)));
  }
  for (const button of $("chips").querySelectorAll(".turn")) {
    const way = button.ways.find(([, words]) => post.place(text, words) !== null);
    button.hidden = !way || button.ways.some(([hashtag]) => actions.has(hashtag));
    if (!way) continue;
    button.way = way;
    button.title = `Write ${way[0]} where the text says so`;
    button.lastChild.textContent = way[0];
    const written = [...button.closest("li").querySelectorAll(".tag")].find(({ dataset }) => dataset.hashtag === way[0]);
    if (button.previousSibling !== written) written.after(button);
  }
}

export const rows = () => [...$("chips").querySelectorAll(".tag.first")];

function row(suggestion, answer, at) {
  const { hashtag, words, variants, on_topic: fit } = suggestion;
  const family = [hashtag, ...variants];
  const item = element("li", { class: "suggestion" });
  const main = tag(hashtag, family, `glance-${at}`);
  main.append(element("span", { class: "unseen" }, `${Math.round(100 * fit)} % sure that it fits`));
  main.style.setProperty("--share", fit);
  const turn = element("button", { type: "button", class: "turn small" }, "in the text", element("span", { class: "unseen" }));
  turn.ways = [[hashtag, words], ...variants.map((variant) => [variant, post.wordsOf(variant)])];
  turn.addEventListener("click", () => {
    actions.turn(...turn.way);
    main.focus();
  });
  const all = element("div", { class: "why", id: `why-${at}`, hidden: true, role: "group", "aria-label": `Why ${hashtag}` });
  const ask = element("button", { type: "button", class: "ask small", "aria-controls": all.id, "aria-expanded": "false" }, "Why", element("span", { class: "unseen" }, ` ${hashtag}`));
  ask.addEventListener("click", () => {
    const opens = all.hidden;
    if (opens) all.replaceChildren(...reasonsFor(suggestion, answer));
    all.hidden = !opens;
    ask.setAttribute("aria-expanded", String(opens));
    if (opens && all.getBoundingClientRect().top > innerHeight - 60) item.scrollIntoView({ block: "start" });
  });
  const others = variants.length
    ? element("p", { class: "variants" }, element("span", { class: "dim" }, "or "), ...variants.map((variant) => tag(variant, family)))
    : null;
  item.append(element("div", { class: "offer" }, main, others, turn), glance(suggestion, answer, `glance-${at}`), ask, all);
  item.dataset.hashtag = hashtag;
  return item;
}

function tag(hashtag, family, described) {
  const isFirst = !family.length || post.same(hashtag, family[0]);
  const button = element("button", { type: "button", class: isFirst ? "tag first" : "tag variant", "aria-pressed": "false" },
    element("span", { class: "name" }, hashtag));
  button.dataset.hashtag = hashtag;
  if (described) button.setAttribute("aria-describedby", described);
  button.addEventListener("click", () => actions.toggle(hashtag, family));
  return button;
}

// ----- at a glance: you, an article, people this week; else what speaks most for it -----

function glance(suggestion, answer, id) {
  const by = Object.fromEntries(suggestion.because.map((reason) => [reason.source, reason]));
  const parts = [you(by.author), people(by.rising), article(by.news, answer)].filter(Boolean);
  const told = parts.length ? parts : [element("li", {}, sentence(suggestion.because[0]?.text ?? ""))];
  return element("ul", { class: "glance", id }, ...told);
}

const sentence = (text) => text && `${text[0].toUpperCase()}${text.slice(1)}`;

function you(reason) {
  return reason ? element("li", { class: "by-you" }, `You used it ${plural(reason.count, "time")}`) : null;
}

function people(reason) {
  if (!reason) return null;
  const uses = reason.days.reduce((sum, count) => sum + count, 0);
  return element("li", { class: "by-people" }, `Used ${plural(uses, "time")} this week`, curve(reason.days));
}

function article(reason, answer) {
  const found = answer.articles.find(({ id }) => reason?.articles?.includes(id));
  if (!found) return null;
  const when = before(Date.parse(found.published_at), Date.parse(answer.post.created_at));
  return element("li", { class: "by-news" }, element("q", {}, found.title || "Untitled"),
    element("span", { class: "dim" }, ` ${[found.source, when].filter(Boolean).join(", ")}`));
}

// ----- keys -----

function pressed(event) {
  const all = [...$("chips").querySelectorAll(".tag")];
  const at = all.indexOf(document.activeElement);
  const next = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (at < 0 || next === undefined) return;
  event.preventDefault();
  all[(next + all.length) % all.length].focus();
}

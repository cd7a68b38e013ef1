// The page: a composer, hashtags that come as one types, the time one looks from, what is rising.

import * as api from "/page/api.js";
import { $, DAY, HOUR, element, fromField, later, longTime, percent, plural, toField } from "/page/dom.js";
import * as post from "/page/post.js";
import { showNoRising, showRising } from "/page/rising.js";
import { hideWhy, showNews, showWhy } from "/page/why.js";

const PAUSE = 250; // milliseconds without a key before the service is asked
const USUAL_LENGTH = 280;
const FEW = 4; // hashtags shown however unsure they are
const UNSURE = 0.01;
const LIVE = 2 * DAY; // news this fresh is looked at from now, older news from its end
const EXAMPLES = [
  ["Marching tonight in Minneapolis. Say his name: George Floyd.", "2020-05-29T20:00"],
  ["My kids stayed up to watch two astronauts leave for the space station from Florida.", "2020-05-30T21:00"],
  ["Beijing writes the law, Hong Kong has to live with it.", "2020-05-28T19:00"],
  ["That statue stood in Bristol for 125 years and was in the harbour within minutes.", "2020-06-08T09:00"],
];

const state = {
  asOf: null, // milliseconds; null is now
  span: null, // [oldest, newest] of the news
  sample: false,
  answer: null,
  chosen: new Set(), // hashtags that were added here
  active: null, // the hashtag whose reasons are shown
  asked: null, // what the answer on the page is for
};

// ----- asking -----

let running = null;
let retryTimer = null;

async function ask() {
  clearTimeout(retryTimer);
  const text = post.without($("post").value, state.chosen);
  const wanted = { text, user: $("user").value.trim() || undefined, created_at: createdAt() };
  const asked = JSON.stringify(wanted);
  if (asked === state.asked) return;
  running?.abort();
  if (!text) {
    state.answer = state.asked = null;
    showProblem(null);
    showSuggestions();
    return;
  }
  const mine = (running = new AbortController());
  $("suggestions").setAttribute("aria-busy", "true");
  try {
    const answer = await api.suggest(wanted, mine.signal);
    if (mine !== running) return; // a later question is on its way
    answer.suggestions = answer.suggestions.filter(({ score }, at) => at < FEW || score >= UNSURE);
    state.answer = answer;
    state.asked = asked;
    showProblem(null);
    showSuggestions();
    say(answer.suggestions.length ? `${plural(answer.suggestions.length, "hashtag")} suggested` : "No hashtags");
  } catch (error) {
    if (error.name === "AbortError" || mine !== running) return;
    state.asked = null;
    showProblem(error);
    if (error.wait) retryTimer = setTimeout(ask, 1000 * error.wait);
  } finally {
    if (mine === running) $("suggestions").setAttribute("aria-busy", "false");
  }
}

const askSoon = later(PAUSE, ask);
const createdAt = () => (state.asOf === null ? undefined : new Date(state.asOf).toISOString());

function showProblem(error) {
  $("problem").hidden = error === null;
  $("suggestions").classList.toggle("stale", error !== null);
  if (error) $("problem-text").textContent = error.message;
}

function say(text) {
  $("status").textContent = text;
}

// ----- the composer -----

function textChanged() {
  const text = $("post").value;
  for (const hashtag of state.chosen) if (!post.has(text, hashtag)) state.chosen.delete(hashtag);
  const length = post.length(text);
  $("count").textContent = `${length} / ${USUAL_LENGTH}`;
  $("count").classList.toggle("over", length > USUAL_LENGTH);
  $("copy").disabled = !text.trim();
  markChosen();
}

function setText(text) {
  $("post").value = text;
  textChanged();
}

function toggle(hashtag) {
  const text = $("post").value;
  if (post.has(text, hashtag)) {
    state.chosen.delete(hashtag);
    setText(post.remove(text, hashtag));
    say(`${hashtag} removed`);
  } else {
    setText(post.add(text, hashtag));
    state.chosen.add(hashtag);
    say(`${hashtag} added`);
  }
  markChosen();
}

async function copy() {
  const text = $("post").value.trim();
  if (!text) return;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    $("post").select(); // pages that are not served safely have no clipboard of their own
    document.execCommand("copy");
  }
  $("copy").textContent = "Copied";
  say("Copied");
  setTimeout(() => ($("copy").textContent = "Copy"), 1500);
}

// ----- the hashtags -----

function showSuggestions() {
  const found = state.answer?.suggestions ?? [];
  const shown = found.map((suggestion) => suggestion.hashtag);
  const kept = [...state.chosen].filter((hashtag) => !shown.some((other) => post.key(other) === post.key(hashtag)));
  $("chips").replaceChildren(...kept.map((hashtag) => chip({ hashtag })), ...found.map(chip));
  markChosen();
  showEmpty(found.length);
  const still = found.find((suggestion) => suggestion.hashtag === state.active);
  activate(still ?? found[0] ?? null);
}

function chip(suggestion) {
  const { hashtag, score } = suggestion;
  const known = score !== undefined;
  const name = element("span", { class: "name" }, hashtag);
  const confidence = known
    ? element("span", { class: "score" }, percent(score), element("span", { class: "unseen" }, " confidence"))
    : null;
  const tag = element("button", { type: "button", class: "tag", "aria-pressed": "false" }, name, confidence);
  tag.dataset.hashtag = hashtag;
  if (known) tag.style.setProperty("--share", score);
  tag.addEventListener("click", () => toggle(hashtag));
  if (!known) return element("li", { class: "chip" }, tag);
  const why = element("button", { type: "button", class: "ask", "aria-controls": "why", "aria-expanded": "false" }, "why", element("span", { class: "unseen" }, ` ${hashtag}`));
  for (const part of [tag, why]) part.addEventListener("focus", () => activate(suggestion));
  why.addEventListener("click", () => {
    activate(suggestion);
    $("why").scrollIntoView({ block: "nearest", behavior: calm() ? "auto" : "smooth" });
  });
  return element("li", { class: "chip" }, tag, why);
}

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

function markChosen() {
  const text = $("post").value;
  for (const tag of $("chips").querySelectorAll(".tag")) {
    tag.setAttribute("aria-pressed", String(post.has(text, tag.dataset.hashtag)));
  }
}

function activate(suggestion) {
  state.active = suggestion?.hashtag ?? null;
  for (const item of $("chips").children) {
    const isIt = item.querySelector(".tag").dataset.hashtag === state.active;
    item.classList.toggle("active", isIt);
    item.querySelector(".ask")?.setAttribute("aria-expanded", String(isIt));
  }
  if (suggestion) showWhy(suggestion, state.answer);
  else if (state.answer?.articles.length) showNews(state.answer);
  else hideWhy();
}

function showEmpty(count) {
  const asked = state.answer !== null;
  $("empty").hidden = count > 0;
  $("examples").hidden = asked || !state.sample;
  $("empty-text").textContent = !asked
    ? "Write a few words. Hashtags appear as you type, each with the news behind it."
    : state.answer.articles.length
      ? "No hashtag fits. Name a person, a place or an event. This is what the news said:"
      : "The news before this time says nothing about it. Try other words, or another time.";
}

function showExamples() {
  const items = EXAMPLES.map(([text, at]) => {
    const button = element("button", { type: "button" }, text);
    button.addEventListener("click", () => {
      state.chosen.clear();
      setText(text);
      travelTo(fromField(at));
      $("post").focus();
    });
    return element("li", {}, button);
  });
  $("examples").replaceChildren(...items);
}

// ----- time -----

let lookingAtRise = null;

async function lookAtRise() {
  lookingAtRise?.abort();
  const mine = (lookingAtRise = new AbortController());
  try {
    const found = await api.trends(state.asOf, mine.signal);
    if (mine === lookingAtRise) showRising(found, putName);
  } catch (error) {
    if (error.name === "AbortError" || mine !== lookingAtRise) return;
    showNoRising(error.message);
    if (error.wait) setTimeout(() => mine === lookingAtRise && lookAtRise(), 1000 * error.wait);
  }
}

const lookAtRiseSoon = later(PAUSE, lookAtRise);

function putName(name) {
  const box = $("post");
  const [start, end] = [box.selectionStart, box.selectionEnd];
  const left = box.value.slice(0, start);
  const gap = left && !/\s$/.test(left) ? " " : "";
  setText(`${left}${gap}${name} ${box.value.slice(end).replace(/^ /, "")}`);
  box.focus();
  box.selectionStart = box.selectionEnd = start + gap.length + name.length + 1;
  askSoon();
}

// The moment from which everything out can be seen; null, where news is still coming in, is now.
function latest() {
  if (!state.span) return null;
  const newest = state.span[1] - (state.span[1] % 60e3);
  if (Date.now() - newest < LIVE) return null;
  const minute = newest + 60e3;
  return minute % DAY ? minute : newest; // midnight would be a day without news
}

function travelTo(moment) {
  state.asOf = Number.isNaN(moment) ? latest() : moment;
  showTime();
  lookAtRiseSoon();
  askSoon();
}

function showTime() {
  const shown = state.asOf ?? Date.now();
  $("as-of").value = toField(shown);
  $("latest").setAttribute("aria-pressed", String(state.asOf === latest()));
  if (state.span) {
    const [oldest] = state.span;
    $("travel").value = Math.round((shown - oldest) / HOUR);
    $("travel").setAttribute("aria-valuetext", `${longTime(shown)} UTC`);
  }
}

function byDays(days) {
  travelTo((state.asOf ?? Date.now()) + days * DAY);
}

function setSpan(found) {
  state.span = found.newest ? [Date.parse(found.oldest), Date.parse(found.newest)] : null;
  state.sample = found.sample;
  const amount = plural(found.articles, "article");
  $("holdings").textContent = state.span
    ? `${amount}, ${longTime(state.span[0]).replace(/,.*/, "")} to ${longTime(state.span[1]).replace(/,.*/, "")}${found.sample ? " (the shipped sample)" : ""}`
    : "No news yet: add some with hashnews news add";
  $("travel").disabled = !state.span;
  if (state.span) $("travel").max = Math.ceil(((latest() ?? Date.now()) - state.span[0]) / HOUR);
}

// ----- keys -----

function pressed(event) {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    copy();
  } else if (event.altKey && /^Digit[1-9]$/.test(event.code)) {
    const tags = $("chips").querySelectorAll(".tag");
    const tag = tags[Number(event.code.at(-1)) - 1];
    if (!tag) return;
    event.preventDefault();
    toggle(tag.dataset.hashtag);
  } else if (event.key === "Escape" && document.activeElement !== $("post")) {
    $("post").focus();
  }
}

function pressedInChips(event) {
  const parts = [...$("chips").querySelectorAll(".tag")];
  const at = parts.indexOf(document.activeElement);
  const next = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: parts.length - 1 }[event.key];
  if (at < 0 || next === undefined) return;
  event.preventDefault();
  parts[(next + parts.length) % parts.length].focus();
}

// ----- beginning -----

async function begin() {
  try {
    setSpan(await api.ready());
  } catch (error) {
    $("holdings").textContent = error.message;
    setTimeout(begin, 1000 * (error.wait || 3));
    return;
  }
  state.asOf = latest();
  showExamples();
  showEmpty(0);
  showTime();
  lookAtRise();
  textChanged();
  ask();
}

$("post").addEventListener("input", () => {
  textChanged();
  askSoon();
});
$("user").addEventListener("input", askSoon);
$("copy").addEventListener("click", copy);
$("retry").addEventListener("click", ask);
$("as-of").addEventListener("change", () => travelTo(fromField($("as-of").value)));
$("travel").addEventListener("input", () => travelTo(state.span[0] + $("travel").value * HOUR));
$("day-back").addEventListener("click", () => byDays(-1));
$("day-on").addEventListener("click", () => byDays(1));
$("latest").addEventListener("click", () => travelTo(NaN));
$("chips").addEventListener("keydown", pressedInChips);
document.addEventListener("keydown", pressed);
begin();

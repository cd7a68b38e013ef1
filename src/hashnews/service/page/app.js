// The page: a composer, hashtags that come as one types, what is rising, and ways in.

import * as api from "/page/api.js";
import * as composer from "/page/composer.js";
import { $, element, fromField, later, plural } from "/page/dom.js";
import { startGroups } from "/page/groups.js";
import { showNoRising, showRising } from "/page/rising.js";
import * as suggestions from "/page/suggestions.js";
import * as time from "/page/time.js";
import { showLearnt, startWays } from "/page/ways.js";

const PAUSE = 150; // milliseconds without a key before the service is asked
const SETTLED = 700; // and before its language model is, where it has one
const REST = 30_000; // at least between two questions to it about the same post
const LOOK = 2000; // milliseconds between two looks for what came in
const FEW = 4; // hashtags shown however unsure they are
const UNSURE = 0.01;
const INVITATION = "Write a few words. Hashtags appear as you type, each with its reason.";
const EXAMPLES = [
  ["Marching tonight in Minneapolis. Say his name: George Floyd.", "2020-05-29T20:00"],
  ["My kids stayed up to watch two astronauts leave for the space station from Florida.", "2020-05-30T21:00"],
  ["Beijing writes the law, Hong Kong has to live with it.", "2020-05-28T19:00"],
  ["That statue stood in Bristol for 125 years and was in the harbour within minutes.", "2020-06-08T09:00"],
];

let answer = null;
let asked = null; // what the answer on the page is for
let answeredAt = 0;
let isSample = false;
let hasModel = false;
let held = ""; // what the service held when it was looked at
let running = null;
let retryTimer = null;

// ----- asking -----

async function ask(withModel = false) {
  clearTimeout(retryTimer);
  const moment = time.asOf();
  const wanted = {
    text: composer.question(),
    user: $("user").value.trim() || undefined,
    created_at: moment === null ? undefined : new Date(moment).toISOString(),
  };
  const question = JSON.stringify(wanted);
  if (question === asked) return;
  running?.abort();
  if (!wanted.text) {
    answer = asked = running = null;
    showProblem(null);
    show();
    return;
  }
  const mine = (running = new AbortController());
  $("suggestions").setAttribute("aria-busy", "true");
  try {
    const found = await api.suggest(wanted, withModel, mine.signal);
    if (mine !== running) return; // a later question is on its way
    asked = question;
    showProblem(null);
    take(found);
    if (hasModel && !withModel) askModelSoon(wanted, mine);
    say(found.suggestions.length ? `${plural(found.suggestions.length, "hashtag")} suggested` : "Nothing fits");
  } catch (error) {
    if (error.name === "AbortError" || mine !== running) return;
    asked = null;
    if (isKeyMissing(error)) return;
    showProblem(error);
    if (error.wait) retryTimer = setTimeout(ask, 1000 * error.wait);
  } finally {
    if (mine === running) $("suggestions").setAttribute("aria-busy", "false");
  }
}

const askSoon = later(PAUSE, ask);

// A language model takes its time: what it adds comes after the answer, or not at all.
const askModelSoon = later(SETTLED, async (wanted, mine) => {
  if (mine !== running) return;
  try {
    const found = await api.suggest(wanted, true, mine.signal);
    if (mine === running && !suggestions.isRead()) take(found);
  } catch {
    // the answer without it stands
  }
});

function take(found) {
  found.suggestions = found.suggestions.filter(({ score }, at) => at < FEW || score >= UNSURE);
  answer = found;
  answeredAt = Date.now();
  show();
}

function again(withModel = false) {
  asked = null;
  askSoon(withModel);
}

function showProblem(error) {
  $("problem").hidden = error === null;
  $("suggestions").classList.toggle("stale", error !== null);
  if (error) $("problem-text").textContent = error.message;
  else $("suggestions").setAttribute("aria-busy", "false");
}

function say(text) {
  $("status").textContent = text;
}

// ----- what is shown -----

function show() {
  suggestions.showSuggestions(answer, composer.chosenHashtags());
  const found = answer?.suggestions.length ?? 0;
  $("empty").hidden = found > 0;
  $("examples").hidden = answer !== null || !isSample;
  $("empty-text").textContent = answer === null ? INVITATION : (answer.note ?? "Nothing fits.");
  $("note").hidden = !found || !answer.note;
  $("note").textContent = answer?.note ?? "";
}

function showExamples() {
  const items = EXAMPLES.map(([text, at]) => {
    const button = element("button", { type: "button" }, text);
    button.addEventListener("click", () => {
      composer.startOver(text);
      time.travelTo(fromField(at));
      $("post").focus();
    });
    return element("li", {}, button);
  });
  $("examples").replaceChildren(...items);
}

let lookingAtRise = null;

async function lookAtRise() {
  lookingAtRise?.abort();
  const mine = (lookingAtRise = new AbortController());
  try {
    const moment = time.asOf();
    const found = await api.trends(moment, mine.signal);
    if (mine === lookingAtRise) showRising(found, moment === null, composer.insert, (hashtag) => composer.toggle(hashtag));
  } catch (error) {
    if (error.name === "AbortError" || mine !== lookingAtRise) return;
    if (isKeyMissing(error)) return showNoRising("It needs the key.");
    showNoRising(error.message);
    if (error.wait) setTimeout(() => mine === lookingAtRise && lookAtRise(), 1000 * error.wait);
  }
}

const lookAtRiseSoon = later(PAUSE, lookAtRise);

// ----- the key, where reading needs one -----

let isKeyUsed = false;

// Whether an answer is refused for want of a key; then somebody is asked for it.
function isKeyMissing({ status }) {
  if (status !== 401) return false;
  $("read-told").textContent = isKeyUsed ? "The service does not know this key." : "This service asks for a key.";
  if ($("read-form").hidden) {
    $("read-form").hidden = false;
    if (!$("post").value) $("read-key").focus(); // nobody is torn from writing
  }
  return true;
}

function startKey() {
  $("read-form").addEventListener("submit", (event) => {
    event.preventDefault();
    api.useReadKey($("read-key").value.trim());
    isKeyUsed = true;
    $("read-key").value = "";
    $("read-form").hidden = true;
    $("post").focus();
    lookAtRise();
    again();
  });
}

// ----- keys -----

function pressed(event) {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    composer.copy();
  } else if (event.altKey && /^Digit[1-9]$/.test(event.code)) {
    const first = suggestions.rows()[Number(event.code.at(-1)) - 1];
    if (!first) return;
    event.preventDefault();
    const turn = first.closest("li").querySelector(".turn");
    if (event.shiftKey && turn && !turn.hidden) turn.click();
    else first.click();
    $("post").focus();
  } else if (event.key === "Escape" && document.activeElement !== $("post") && !document.querySelector("dialog[open]")) {
    $("post").focus();
  }
}

// ----- from elsewhere -----

// A text, or the key, in the fragment of the address, which no server sees, is taken over.
function takeOver() {
  const given = new URLSearchParams(location.hash.slice(1));
  if (!given.has("text") && !given.has("key")) return;
  history.replaceState(null, "", location.pathname);
  if (given.has("key")) api.useKey(given.get("key"));
  if (given.has("text")) composer.startOver(given.get("text").slice(0, 10_000));
  $("post").focus();
}

function offerBookmarklet() {
  const opened = `${location.origin}/#text=`;
  const code = `(()=>{open(${JSON.stringify(opened)}+encodeURIComponent(String(getSelection()).trim()||document.title))})()`;
  $("bookmarklet").href = `javascript:${encodeURIComponent(code)}`;
  $("bookmarklet").addEventListener("click", (event) => {
    event.preventDefault();
    say("Drag it to your bookmarks");
  });
}

// ----- beginning -----

async function begin() {
  let found;
  try {
    found = await api.ready();
  } catch (error) {
    $("holdings").textContent = error.message;
    setTimeout(begin, 1000 * (error.wait || 3));
    return;
  }
  learn(found);
  showExamples();
  show();
  lookAtRise();
  ask();
  setTimeout(keepUp, LOOK);
}

function learn(found) {
  isSample = found.sample;
  hasModel = found.llm;
  $("with-model").hidden = !hasModel;
  held = JSON.stringify(found);
  time.setSpan(found);
  showLearnt(found);
}

let isStale = false;

// What came in or went meanwhile may change the answer; not under the eyes of who reads why.
async function keepUp() {
  if (!document.hidden) {
    try {
      const found = await api.ready();
      if (JSON.stringify(found) !== held) {
        learn(found);
        lookAtRise();
        isStale = true;
      }
      if (isStale && !suggestions.isRead() && Date.now() - answeredAt >= (hasModel ? REST : 0)) {
        isStale = false;
        again(hasModel);
      }
    } catch {
      // whoever writes will be told
    }
  }
  setTimeout(keepUp, LOOK);
}

time.startTime(() => {
  lookAtRiseSoon();
  askSoon();
});
suggestions.startSuggestions({ ...composer, text: () => $("post").value });
composer.startComposer({
  said: say,
  changed: () => {
    suggestions.mark();
    askSoon();
  },
});
startGroups({ chosen: composer.hashtags, use: composer.addAll, say });
offerBookmarklet();
startKey();
startWays(say);
takeOver();
addEventListener("hashchange", takeOver);
$("retry").addEventListener("click", () => again());
document.addEventListener("keydown", pressed);
begin();

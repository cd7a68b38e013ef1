// The time one looks from: now, or for who wants to know, any moment of the news.

import { $, DAY, HOUR, fromField, longTime, plural, toField } from "/page/dom.js";

const LIVE = 2 * DAY; // news this fresh is looked at from now, older news alone from its end
const day = (time) => longTime(time).replace(/,.*/, "");

let moment = null; // milliseconds; null is now
let span = null; // [oldest, newest] of the news
let isLived = false; // somebody's own posts are there: then it is now

export const asOf = () => moment;

// The moment from which everything out can be seen; null, where news is still coming in, is now.
function latest() {
  if (!span || isLived) return null;
  const end = (span[1] + 1) % DAY === DAY / 2 ? span[1] - DAY / 2 : span[1]; // a day without an hour
  const newest = end - (end % 60e3);
  if (Date.now() - newest < LIVE) return null;
  const minute = newest + 60e3;
  return minute % DAY ? minute : newest; // midnight would be a day without news
}

export function setSpan(found) {
  const wasLatest = moment === latest();
  span = found.newest ? [Date.parse(found.oldest), Date.parse(found.newest)] : null;
  isLived = !found.sample && found.posts > 0;
  if (wasLatest) moment = latest();
  $("holdings").textContent = span
    ? `${plural(found.articles, "article")}, ${day(span[0])} to ${day(span[1])}${found.sample ? " (the shipped sample)" : ""}`
    : "No news yet: add a feed, or use hashnews news add";
  $("travel").disabled = !span;
  if (span) $("travel").max = Math.ceil(((latest() ?? Date.now()) - span[0]) / HOUR);
  show();
}

function show() {
  const shown = moment ?? Date.now();
  $("when").textContent = moment === null ? "Now" : `As of ${longTime(moment)} UTC`;
  $("as-of").value = toField(shown);
  $("latest").setAttribute("aria-pressed", String(moment === latest()));
  if (span) {
    $("travel").value = Math.round((shown - span[0]) / HOUR);
    $("travel").setAttribute("aria-valuetext", `${longTime(shown)} UTC`);
  }
}

export let travelTo;

export function startTime(travelled) {
  travelTo = (to) => {
    moment = Number.isNaN(to) ? latest() : to;
    show();
    travelled();
  };
  const byDays = (days) => travelTo((moment ?? Date.now()) + days * DAY);
  $("as-of").addEventListener("change", () => travelTo(fromField($("as-of").value)));
  $("travel").addEventListener("input", () => travelTo(span[0] + $("travel").value * HOUR));
  $("day-back").addEventListener("click", () => byDays(-1));
  $("day-on").addEventListener("click", () => byDays(1));
  $("latest").addEventListener("click", () => travelTo(NaN));
}

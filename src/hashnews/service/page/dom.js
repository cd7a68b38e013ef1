// Elements, numbers and times: the little that every part of the page needs.
// Text goes in as text nodes only; the page's policy forbids anything else.

export const $ = (id) => document.getElementById(id);

export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "class") made.className = value;
    else if (key.startsWith("aria-") || key === "role") made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function drawing(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export const percent = (share) => (share > 0 && share < 0.005 ? "under 1 %" : `${Math.round(100 * share)} %`);

export function plural(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

export function later(milliseconds, action) {
  let timer;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...values), milliseconds);
  };
}

// ----- times, all in UTC -----

export const HOUR = 3600e3;
export const DAY = 24 * HOUR;

const SHORT = new Intl.DateTimeFormat("en-GB", {
  day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZone: "UTC",
});
const WITH_YEAR = new Intl.DateTimeFormat("en-GB", {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZone: "UTC",
});

export const shortTime = (time) => SHORT.format(time);
export const longTime = (time) => WITH_YEAR.format(time);
export const toField = (time) => new Date(time).toISOString().slice(0, 16);
export const fromField = (text) => (text ? Date.parse(`${text}Z`) : NaN);

export function before(time, reference) {
  const hours = (reference - time) / HOUR;
  if (hours < 1) return `${Math.max(1, Math.round(60 * hours))} min before`;
  if (hours < 36) return `${Math.round(hours)} h before`;
  return `${Math.round(hours / 24)} days before`;
}

// ----- marking names in a text -----

const LETTER = /[\p{L}\p{N}]/u;

export function marked(text, names) {
  const folded = text.toLowerCase();
  const same = folded.length === text.length; // some letters change their length
  const spans = [];
  for (const name of same ? names : []) {
    const wanted = name.toLowerCase();
    for (let at = wanted ? folded.indexOf(wanted) : -1; at >= 0; at = folded.indexOf(wanted, at + 1)) {
      const end = at + wanted.length;
      if (!LETTER.test(text[at - 1] ?? "") && !LETTER.test(text[end] ?? "")) spans.push([at, end]);
    }
  }
  spans.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const pieces = [];
  let done = 0;
  for (const [start, end] of spans) {
    if (start < done) continue;
    pieces.push(text.slice(done, start), element("mark", {}, text.slice(start, end)));
    done = end;
  }
  pieces.push(text.slice(done));
  return pieces;
}

// What is rising: names in the news and hashtags of people, each with a small chart of its days.

import { $, drawing, element, plural, shortTime } from "/page/dom.js";

const WIDTH = 72;
const HEIGHT = 22;

export function showRising(found, isNow, useName, useHashtag) {
  const names = found.trends;
  const hashtags = found.hashtags ?? [];
  $("rising-when").textContent = isNow ? "" : `until ${shortTime(Date.parse(found.at))}`;
  $("rising-empty").hidden = names.length + hashtags.length > 0;
  $("rising-empty").textContent = "Nothing is on the rise.";
  $("rising-names-part").hidden = names.length === 0;
  $("rising-tags-part").hidden = hashtags.length === 0;
  $("rising").replaceChildren(...names.map((trend) => row(trend.entity, trend.counts, found.days, "article", useName)));
  $("rising-tags").replaceChildren(...hashtags.map((trend) => row(trend.hashtag, trend.counts, found.days, "post", useHashtag)));
}

export function showNoRising(message) {
  $("rising-names-part").hidden = $("rising-tags-part").hidden = true;
  $("rising-empty").hidden = false;
  $("rising-empty").textContent = message;
}

function row(name, counts, days, what, use) {
  const recent = counts.at(-1) + counts.at(-2);
  const told = element("span", { class: "count" }, String(recent), element("span", { class: "unseen" }, ` ${recent === 1 ? what : `${what}s`} in two days`));
  told.title = `${plural(recent, what)} in two days`;
  const button = element("button", { type: "button", class: "trend", title: `Put ${name} into the post` },
    element("span", { class: "name" }, name), chart(counts, days, what), told);
  button.addEventListener("click", () => use(name));
  return element("li", {}, button);
}

function chart(counts, days, what) {
  const most = Math.max(1, ...counts);
  const step = WIDTH / counts.length;
  const bars = counts.map((count, at) => {
    const height = count ? Math.max(2, (HEIGHT * count) / most) : 1;
    const bar = drawing("rect", {
      x: at * step + 1, y: HEIGHT - height, width: step - 2, height, rx: 1,
      class: !count ? "none" : at < counts.length - 2 ? "past" : "now",
    });
    bar.append(drawing("title", {}, `${days[at]}: ${plural(count, what)}`));
    return bar;
  });
  const told = `${what === "post" ? "Posts" : "Articles"} a day since ${days[0]}: ${counts.join(", ")}`;
  return drawing("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": told }, ...bars);
}

// A line through the uses on each of the last days.
export function curve(days) {
  const [width, height, most] = [40, 12, Math.max(1, ...days)];
  const points = days.map((count, at) => [(width * at) / (days.length - 1 || 1), height - (height * count) / most]);
  const line = points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
  const [x, y] = points.at(-1);
  const told = `Uses on the last ${days.length} days: ${days.join(", ")}`;
  return drawing("svg", { viewBox: `-2 -2 ${width + 4} ${height + 4}`, class: "curve", role: "img", "aria-label": told },
    drawing("polyline", { points: line }), drawing("circle", { cx: x, cy: y, r: 1.8 }));
}

// What is rising: entities with a small chart of the articles a day that name them.

import { $, drawing, element, plural, shortTime } from "/page/dom.js";

const WIDTH = 72;
const HEIGHT = 22;

export function showRising(found, use) {
  $("rising-when").textContent = `until ${shortTime(Date.parse(found.at))}`;
  $("rising-empty").hidden = found.trends.length > 0;
  $("rising-empty").textContent = "No name was in three articles of the last two days.";
  $("rising").replaceChildren(...found.trends.map((trend) => row(trend, found.days, use)));
}

export function showNoRising(message) {
  $("rising").replaceChildren();
  $("rising-empty").hidden = false;
  $("rising-empty").textContent = message;
}

function row(trend, days, use) {
  const recent = trend.counts.at(-1) + trend.counts.at(-2);
  const button = element(
    "button",
    { type: "button", class: "trend", title: "Put the name into the post" },
    element("span", { class: "name" }, trend.entity),
    chart(trend.counts, days),
    element("span", { class: "count" }, String(recent), element("span", { class: "unseen" }, " articles in two days, ")),
    element(
      "span",
      { class: "rate", title: "Temporal popularity: how much more it is named than in the weeks before" },
      `×${trend.popularity.toFixed(1)}`,
      element("span", { class: "unseen" }, " as popular as usual"),
    ),
  );
  button.addEventListener("click", () => use(trend.entity));
  return element("li", {}, button);
}

function chart(counts, days) {
  const most = Math.max(1, ...counts);
  const step = WIDTH / counts.length;
  const bars = counts.map((count, at) => {
    const height = count ? Math.max(2, (HEIGHT * count) / most) : 1;
    const bar = drawing("rect", {
      x: at * step + 1, y: HEIGHT - height, width: step - 2, height, rx: 1,
      class: !count ? "none" : at < counts.length - 2 ? "past" : "now",
    });
    bar.append(drawing("title", {}, `${days[at]}: ${plural(count, "article")}`));
    return bar;
  });
  const told = `Articles a day since ${days[0]}: ${counts.join(", ")}`;
  const attributes = { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "chart", role: "img", "aria-label": told };
  return drawing("svg", attributes, ...bars);
}

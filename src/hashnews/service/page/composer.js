// The composer: the text, the network it is for, the hashtags chosen, and ways to take it there.

import { $, element, plural } from "/page/dom.js";
import { TAB, keep, recall } from "/page/kept.js";
import { MOST_BESIDE, NETWORKS, USUAL_SERVER, serverName } from "/page/networks.js";
import * as post from "/page/post.js";

const chosen = new Map(); // hashtags that were added here: the words each stands for, or ""
let beside = []; // hashtags that stand beside the text, not in it
let network = NETWORKS[recall("network")] ? recall("network") : "mastodon";
let changed; // called when what the service is asked about may have changed
let said; // called with what a screen reader should say
let isOver = false;

export const hashtags = () => [...post.tags($("post").value), ...beside];
export const has = (hashtag) => hashtags().some((tag) => post.same(tag, hashtag));
export const question = () => post.without($("post").value, chosen);
export const chosenHashtags = () => [...chosen.keys(), ...beside];

// ----- the text -----

export function textChanged() {
  const text = $("post").value;
  for (const hashtag of chosen.keys()) if (!post.has(text, hashtag)) chosen.delete(hashtag);
  keep("draft", { text, chosen: [...chosen], beside }, TAB);
  $("copy").disabled = !text.trim();
  showCount(text);
  showShare(text);
  changed();
}

// Write a text into the box; the cursor stays by the words it stood at.
function write(text) {
  const box = $("post");
  const [start, end] = [box.selectionStart, box.selectionEnd].map((at) => post.moved(at, box.value, text));
  box.value = text;
  box.setSelectionRange(start, end);
}

export function startOver(text) {
  chosen.clear();
  beside = [];
  showBeside();
  $("post").value = text;
  textChanged();
}

// Put words where the cursor is.
export function insert(words) {
  const box = $("post");
  const [start, end] = [box.selectionStart, box.selectionEnd];
  const left = box.value.slice(0, start);
  const gap = left && !/\s$/.test(left) ? " " : "";
  box.value = `${left}${gap}${words} ${box.value.slice(end).replace(/^ /, "")}`;
  textChanged();
  box.focus();
  box.selectionStart = box.selectionEnd = start + gap.length + words.length + 1;
}

// The page loaded anew goes on where it was.
function goOn() {
  const draft = recall("draft", null, TAB);
  if (!draft) return;
  $("post").value = draft.text;
  draft.chosen.forEach(([hashtag, was]) => chosen.set(hashtag, was));
  beside = draft.beside;
  showBeside();
}

// ----- hashtags -----

// Add a hashtag or take it out again; of its family there is one at most.
export function toggle(hashtag, family = []) {
  if (has(hashtag)) {
    takeOut(hashtag);
    said(`${hashtag} removed`);
  } else {
    family.filter((other) => has(other)).forEach(takeOut);
    add(hashtag);
    said(`${hashtag} added`);
  }
  showBeside();
  textChanged();
}

export function addAll(several) {
  const fresh = several.filter((hashtag) => !has(hashtag));
  fresh.forEach(add);
  showBeside();
  textChanged();
  said(`${plural(fresh.length, "hashtag")} added`);
}

function add(hashtag) {
  if (isBeside()) {
    if (beside.length < MOST_BESIDE) beside.push(hashtag);
  } else {
    write(post.add($("post").value, hashtag));
    chosen.set(hashtag, "");
  }
}

function takeOut(hashtag) {
  const was = [...chosen].find(([other]) => post.same(other, hashtag))?.[1];
  for (const other of chosen.keys()) if (post.same(other, hashtag)) chosen.delete(other);
  beside = beside.filter((other) => !post.same(other, hashtag));
  write(post.remove($("post").value, hashtag, was));
}

// Write a hashtag where the text says its words.
export function turn(hashtag, words) {
  if (has(hashtag) || post.place($("post").value, words) === null) return false;
  const { text, was } = post.turn($("post").value, hashtag, words);
  chosen.set(hashtag, was);
  write(text);
  textChanged();
  said(`${hashtag} written in the text`);
  return true;
}

// ----- beside the text, as Bluesky can have them -----

const isBeside = () => network === "bluesky" && $("is-beside").checked;

function moveBeside() {
  if (isBeside()) {
    const atEnd = [...chosen].filter(([, was]) => !was).map(([hashtag]) => hashtag);
    atEnd.forEach(takeOut);
    beside = atEnd.slice(0, MOST_BESIDE);
  } else {
    const back = beside;
    beside = [];
    back.forEach(add);
  }
  showBeside();
  textChanged();
}

function showBeside() {
  $("beside").hidden = beside.length === 0;
  const items = beside.map((hashtag) => {
    const drop = element("button", { type: "button", class: "drop" }, "×", element("span", { class: "unseen" }, ` Remove ${hashtag}`));
    drop.addEventListener("click", () => {
      toggle(hashtag);
      $("post").focus();
    });
    return element("li", {}, hashtag.slice(1), drop);
  });
  $("beside-list").replaceChildren(...items);
}

// ----- the network -----

const limit = () => (network === "mastodon" ? recall("limit", NETWORKS.mastodon.limit) : NETWORKS[network].limit);
const server = () => serverName($("server").value) || USUAL_SERVER;

function showCount(text) {
  const { name, length, custom, most } = NETWORKS[network];
  const used = length(text.trimEnd());
  const left = limit() - used;
  $("count").replaceChildren(`${used.toLocaleString("en")} / ${limit().toLocaleString("en")}`, element("span", { class: "unseen" }, ` characters as ${name} counts them`));
  $("count").classList.toggle("over", left < 0);
  if (left < 0 !== isOver) said(left < 0 ? `Too long for ${name}` : `Short enough for ${name}`);
  isOver = left < 0;
  const several = hashtags().length;
  const isMany = several > (isBeside() ? MOST_BESIDE : most);
  $("custom").textContent = isMany ? `${plural(several, "hashtag")} are many for ${name}. ${custom}` : custom;
  $("custom").classList.toggle("many", isMany);
}

function showShare(text) {
  const { name, share } = NETWORKS[network];
  const said = text.trim();
  $("share").hidden = !share || !said;
  if (share && said) {
    $("share").textContent = `Open in ${name}`;
    $("share").href = share(said, server());
  }
}

function showNetwork() {
  $("server-fold").hidden = network !== "mastodon";
  $("beside-field").hidden = network !== "bluesky";
  $("limit").value = limit();
  $("where").textContent = server();
}

function choose(name) {
  network = name;
  keep("network", name);
  showNetwork();
  moveBeside();
}

// ----- taking it there -----

async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const box = $("post"); // pages that are not served safely have no clipboard of their own
    const before = box.value;
    box.value = text;
    box.select();
    document.execCommand("copy");
    box.value = before;
  }
}

async function copyFrom(button, text) {
  if (!text) return;
  const name = button.textContent;
  await toClipboard(text);
  button.textContent = "Copied";
  said("Copied");
  setTimeout(() => (button.textContent = name === "Copied" ? "Copy" : name), 1500);
}

export const copy = () => copyFrom($("copy"), $("post").value.trim());

// ----- beginning -----

export function startComposer(actions) {
  ({ changed, said } = actions);
  const choices = Object.entries(NETWORKS).map(([id, { name }]) => {
    const radio = element("input", { type: "radio", name: "network", value: id, checked: id === network });
    radio.addEventListener("change", () => choose(id));
    return element("label", {}, radio, element("span", {}, name));
  });
  $("networks").replaceChildren(...choices);
  $("server").placeholder = USUAL_SERVER;
  $("server").value = recall("server", "");
  $("is-beside").checked = recall("beside", false);
  $("user").value = recall("author", "");
  $("post").addEventListener("input", textChanged);
  $("user").addEventListener("input", () => {
    keep("author", $("user").value.trim());
    changed();
  });
  $("server").addEventListener("input", () => {
    keep("server", $("server").value.trim());
    $("where").textContent = server();
    showShare($("post").value);
  });
  $("limit").addEventListener("input", () => {
    const given = Math.floor(Number($("limit").value));
    if (given > 0) keep("limit", given);
    showCount($("post").value);
  });
  $("is-beside").addEventListener("change", () => {
    keep("beside", $("is-beside").checked);
    moveBeside();
  });
  $("copy").addEventListener("click", copy);
  $("beside-copy").addEventListener("click", () => copyFrom($("beside-copy"), beside.map((tag) => tag.slice(1)).join(" ")));
  showNetwork();
  goOn();
  textChanged();
}

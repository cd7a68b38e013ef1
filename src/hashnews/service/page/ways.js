// Ways in: archives, feeds and networks, what arrived, and an author forgotten.

import * as api from "/page/api.js";
import { $, element, plural } from "/page/dom.js";
import { recall } from "/page/kept.js";
import { USUAL_SERVER, serverName } from "/page/networks.js";

const LOOK = 1500; // milliseconds between two looks while it is open
const BLUESKY = "api.bsky.app"; // where hashtags of Bluesky are searched
const OWN_STORE = "This shows the shipped sample, or is for reading only. To fill a memory of your own, put 16 characters or more that nobody guesses into a file KEY, and start: hashnews serve --news my.db --key-file KEY --fetch";
const STATES = {
  new: "not visited yet", fetched: "up to date", unchanged: "up to date", visiting: "being visited", waiting: "waits after a failure",
  failed: "failed", paused: "paused", connecting: "connecting", following: "following", stopped: "not followed now",
};

let say;
let timer;
let isKeyUsed = false;
let looking = ""; // the site whose feed is still looked for
let sending = []; // archives of which parts are on their way: {name, share}

// ----- what is shown -----

async function look() {
  clearTimeout(timer);
  if (!$("ways").open) return;
  try {
    show(await api.ways());
    tell(null);
  } catch (error) {
    $("ways-all").hidden = [401, 403].includes(error.status);
    const wasAsked = !$("key-form").hidden;
    $("key-form").hidden = error.status !== 401;
    if (error.status === 401 && !wasAsked) $("key").focus();
    const noKey = isKeyUsed ? "The service does not know this key." : "This service asks for its key.";
    tell({ 401: noKey, 403: OWN_STORE }[error.status] ?? error.message);
  }
  timer = setTimeout(look, LOOK);
}

function tell(problem) {
  $("ways-problem").hidden = problem === null;
  if (problem !== null && $("ways-problem").textContent !== problem) $("ways-problem").textContent = problem;
}

function show(state) {
  $("ways-all").hidden = false;
  $("key-form").hidden = true;
  fill("archives", [...sending.map(sendingLine), ...state.archives.filter(isHere).map(archiveLine)]);
  const rest = state.fetching ? [] : [line("Feeds and networks rest: this service was started without --fetch.")];
  fill("followed", [...rest, ...state.searches.map(searchLine), ...state.feeds.map(feedLine), ...state.sources.map(sourceLine)]);
  $("follow-add").disabled = !state.fetching;
  $("arrived-none").hidden = state.arrivals.length > 0;
  const titles = new Map(state.feeds.map(({ url, title }) => [url, title]));
  fill("arrived", state.arrivals.map((arrival) => arrivalLine(arrival, titles.get(arrival.source))));
  if (looking && !state.searches.some(({ address }) => address === looking)) {
    $("follow-told").textContent = "";
    looking = "";
  }
}

const isHere = ({ upload }) => !sending.some((one) => one.upload === upload);

// A list anew, unless somebody is just using it.
function fill(id, items) {
  const list = $(id);
  const held = list.contains(document.activeElement) ? document.activeElement.dataset.act : null;
  list.replaceChildren(...items);
  if (held) [...list.querySelectorAll("button")].find((button) => button.dataset.act === held)?.focus();
}

function line(what, told = "", isBad = false, acts = []) {
  return element("li", {}, element("span", { class: "what" }, what),
    told ? element("span", { class: isBad ? "told bad" : "told" }, told) : null,
    acts.length ? element("span", { class: "acts" }, ...acts) : null);
}

function act(name, address, action) {
  const button = element("button", { type: "button", class: "small" }, name, element("span", { class: "unseen" }, ` ${address}`));
  button.dataset.act = `${name} ${address}`;
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      say(await action());
    } catch (error) {
      tell(error.message);
    }
    look();
  });
  return button;
}

const acts = (address, isPaused) => [
  act(isPaused ? "Go on" : "Pause", address, async () => {
    await api.pause(address, !isPaused);
    return isPaused ? "It goes on" : "Paused";
  }),
  act("Remove", address, async () => {
    const { forgotten } = await api.unfollow(address);
    return `Removed${forgotten ? `, ${plural(forgotten, "post")} forgotten` : ""}`;
  }),
];

function searchLine({ address, note }) {
  return line(element("b", {}, address), note ? sentence(note) : "looking for its feed…", Boolean(note));
}

function feedLine(feed) {
  const told = [STATES[feed.state] ?? feed.state, plural(feed.articles, "article"), feed.visited_at && `visited ${ago(feed.visited_at)}`, feed.note];
  return line(element("b", {}, feed.title || feed.url), told.filter(Boolean).join(" · "), Boolean(feed.note), acts(feed.url, feed.state === "paused"));
}

function sourceLine(source) {
  const went = source.removed ? `${plural(source.removed, "post")} deleted there and here` : "";
  const isBad = ["failed", "waiting"].includes(source.state);
  const told = [STATES[source.state] ?? source.state, plural(source.posts, "post"), went, source.seen && `seen ${ago(source.seen)}`, isBad && source.error];
  return line(element("b", {}, named(source.address)), told.filter(Boolean).join(" · "), isBad, acts(source.address, source.paused));
}

// A source as people say it.
function named(address) {
  const [, network, host, path] = address.match(/^(\w+):\/\/([^/?]+)\/?([^?]*)/) ?? [];
  const where = network === "bluesky" ? "Bluesky" : host;
  if (path?.startsWith("tags/")) return `#${decodeURIComponent(path.slice(5))} on ${where}`;
  if (path?.startsWith("@")) return `${path} on ${where}`;
  return address;
}

function sendingLine({ name, share }) {
  const item = line(element("b", {}, name), "on its way");
  item.append(element("progress", { max: 1, value: share, "aria-label": `${name} on its way` }));
  return item;
}

function archiveLine(archive) {
  const name = element("b", {}, archive.name);
  if (archive.state === "adding") {
    const item = line(name, `${plural(archive.read, "post")} read`);
    item.append(element("progress", { max: 1, value: archive.done, "aria-label": `${archive.name} is read` }));
    return item;
  }
  if (archive.state === "failed") return line(name, sentence(archive.note || "it could not be read"), true);
  const told = [
    `${plural(archive.added, "post")} with hashtags remembered`, archive.known && `${archive.known.toLocaleString("en")} known already`,
    archive.forgotten && `${archive.forgotten.toLocaleString("en")} too old`, archive.skipped && `${archive.skipped.toLocaleString("en")} could not be read: ${archive.note}`,
    !archive.is_named && "it does not say whose posts these are: say it above, and drop it again",
  ];
  return line(name, told.filter(Boolean).join(" · "));
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}`;

function arrivalLine({ at, source, kind, came, went, refused }, title) {
  const one = kind.replace(/s$/, "");
  const told = [came && plural(came, one), went && `${went.toLocaleString("en")} went`, refused && `${refused.toLocaleString("en")} of no use`];
  return line(title || named(source), `${ago(at)} · ${told.filter(Boolean).join(" · ")}`);
}

function ago(time) {
  const minutes = Math.round((Date.now() - Date.parse(time)) / 60e3);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h ago` : `${Math.round(minutes / 1440)} days ago`;
}

// ----- archives -----

async function take(files) {
  for (const file of files) {
    const one = { name: file.name, share: 0 };
    sending.push(one);
    try {
      await api.upload(file, $("archive-user").value.trim() || undefined, $("archive-replies").checked, (share, upload) => {
        Object.assign(one, { share, upload });
      });
    } catch (error) {
      tell(`${file.name}: ${error.message}`);
    }
    sending = sending.filter((other) => other !== one);
    look();
  }
}

function catchDrops() {
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    open();
    $("ways").classList.add("is-over");
  });
  for (const end of ["dragleave", "drop"]) addEventListener(end, () => $("ways").classList.remove("is-over"));
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    open();
    take([...event.dataTransfer.files]);
  });
}

// ----- following -----

const isHashtag = (text) => text.startsWith("#");
const isAccount = (text) => /^(mastodon|bluesky):\/\/[^/]+\/@/.test(text) || /^@?[\w.-]+@[\w.-]+\.\w+$/.test(text) || /^@[\w-]+(\.[\w-]+)+$/.test(text);

// What somebody typed as an address: of a site as it is, of a hashtag or account as a source.
function address(text) {
  if (isHashtag(text)) {
    const name = encodeURIComponent(text.slice(1));
    return $("follow-on").value === "bluesky" ? `bluesky://${BLUESKY}/tags/${name}` : `mastodon://${$("follow-on").value}/tags/${name}`;
  }
  if (!isAccount(text) || text.includes("://")) return text;
  const [name, host] = text.replace(/^@/, "").split("@");
  return host ? `mastodon://${host}/@${name}` : `bluesky://bsky.social/@${name}`;
}

function offerPlaces() {
  const text = $("follow").value.trim();
  const server = serverName(recall("server", "")) || USUAL_SERVER;
  if ($("follow-on").options[0]?.value !== server) {
    $("follow-on").replaceChildren(element("option", { value: server }, server), element("option", { value: "bluesky" }, "Bluesky"));
  }
  $("follow-on-field").hidden = !isHashtag(text);
  $("follow-me-field").hidden = !isAccount(text);
}

async function follow(event) {
  event.preventDefault();
  const text = $("follow").value.trim();
  const mine = isAccount(text) && $("follow-me").checked ? $("user").value.trim() || text.replace(/^.*:\/\/[^/]+\/|\?.*$/g, "").replace(/^@/, "") : undefined;
  $("follow-told").textContent = "Looking…";
  try {
    const found = await api.follow(address(text), mine);
    looking = found.searching ? found.address : "";
    const how = found.searching ? "Still looking" : found.added ? "Added" : "Known already";
    $("follow-told").textContent = `${how}: ${found.title || named(found.address)}`;
    $("follow").value = "";
    offerPlaces();
  } catch (error) {
    $("follow-told").textContent = error.message;
  }
  look();
}

// ----- forgetting: the second click does it -----

async function forget(event) {
  event.preventDefault();
  const author = $("forget").value.trim();
  if ($("forget-go").dataset.sure !== author) {
    $("forget-go").dataset.sure = author;
    $("forget-go").textContent = "Really forget";
    $("forget-told").textContent = `All posts of ${author} will go, and none will be remembered again. Click once more.`;
    return;
  }
  unsure();
  try {
    const { forgotten } = await api.forget(author);
    $("forget-told").textContent = `${plural(forgotten, "post")} of ${author} forgotten.`;
    $("forget").value = "";
  } catch (error) {
    $("forget-told").textContent = error.message;
  }
  look();
}

function unsure() {
  delete $("forget-go").dataset.sure;
  $("forget-go").textContent = "Forget";
}

// ----- beginning -----

function open() {
  if ($("ways").open) return;
  $("archive-user").value ||= $("user").value.trim();
  $("ways").showModal();
  look();
}

export function startWays(told) {
  say = told;
  $("open-ways").addEventListener("click", open);
  $("close-ways").addEventListener("click", () => $("ways").close());
  $("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    api.useKey($("key").value.trim());
    isKeyUsed = true;
    $("key").value = "";
    look();
  });
  $("archive").addEventListener("change", () => {
    take([...$("archive").files]);
    $("archive").value = "";
  });
  $("follow").addEventListener("input", offerPlaces);
  $("follow-form").addEventListener("submit", follow);
  $("forget").addEventListener("input", unsure);
  $("forget-form").addEventListener("submit", forget);
  catchDrops();
}

export function showLearnt({ articles, posts }) {
  $("learnt").textContent = `${plural(articles, "article")} and ${plural(posts, "post")} of people`;
}

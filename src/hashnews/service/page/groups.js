// Groups of hashtags that the writer saved: they stay in the browser, and can be taken elsewhere.

import { $, element, plural } from "/page/dom.js";
import { keep, recall } from "/page/kept.js";

const MOST = 100;
const HASHTAG = /^#[\p{L}\p{M}\p{N}_]{1,100}$/u;

let groups = clean(recall("groups", []));

// Whatever a file or the storage holds: groups, each a name and hashtags, are taken.
function clean(found) {
  if (!Array.isArray(found)) return [];
  const fit = found.filter((group) => typeof group?.name === "string" && group.name.trim() && Array.isArray(group.hashtags));
  return fit.slice(0, MOST).map(({ name, hashtags }) => ({
    name: name.trim().slice(0, 60),
    hashtags: hashtags.filter((tag) => typeof tag === "string" && HASHTAG.test(tag)).slice(0, 30),
  })).filter(({ hashtags }) => hashtags.length);
}

// Groups with others put in: of one name the later counts.
function put(others) {
  const byName = new Map([...groups, ...others].map((group) => [group.name.toLowerCase(), group]));
  groups = [...byName.values()].slice(0, MOST);
  keep("groups", groups);
}

export function startGroups({ chosen, use, say }) {
  function show() {
    $("group-list").replaceChildren(...groups.map(row));
    $("group-none").hidden = groups.length > 0;
    $("group-export").hidden = groups.length === 0;
  }

  function row(group) {
    const apply = element("button", { type: "button", class: "group", title: group.hashtags.join(" ") },
      element("b", {}, group.name), element("span", { class: "dim" }, group.hashtags.join(" ")));
    apply.addEventListener("click", () => use(group.hashtags));
    const drop = element("button", { type: "button", class: "drop", title: "Delete this group" }, "×",
      element("span", { class: "unseen" }, ` Delete the group ${group.name}`));
    drop.addEventListener("click", () => {
      groups = groups.filter((other) => other !== group);
      keep("groups", groups);
      show();
      say(`Group ${group.name} deleted`);
      $("group-name").focus();
    });
    return element("li", {}, apply, drop);
  }

  $("group-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const hashtags = chosen();
    const name = $("group-name").value.trim();
    if (!hashtags.length) return tell("Add hashtags to the post first: they become the group.");
    if (!name) return tell("Give the group a name.");
    put(clean([{ name, hashtags }]));
    $("group-name").value = "";
    show();
    tell(`Saved: ${plural(hashtags.length, "hashtag")} as ${name}.`);
  });
  $("group-export").addEventListener("click", () => {
    const file = new Blob([JSON.stringify({ groups }, null, 2)], { type: "application/json" });
    const link = element("a", { href: URL.createObjectURL(file), download: "hashnews-groups.json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  $("group-import").addEventListener("change", async () => {
    const [file] = $("group-import").files;
    $("group-import").value = "";
    if (!file) return;
    let found = [];
    try {
      if (file.size < 1e6) found = clean(JSON.parse(await file.text()).groups);
    } catch {
      // told below
    }
    if (!found.length) return tell(`${file.name} holds no groups.`);
    put(found);
    show();
    tell(`${plural(found.length, "group")} read from ${file.name}.`);
  });
  const tell = (text) => {
    $("group-told").textContent = text;
  };
  show();
}

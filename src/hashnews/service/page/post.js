// A post as what is said and the hashtags chosen for it, which stand at its end.

const TAIL = /\s*(?:#[^\s#]+\s*)*$/u;

export const key = (hashtag) => hashtag.replace(/^#/, "").replaceAll("_", "").toLowerCase();

export function tagsAtEnd(text) {
  return text.match(TAIL)[0].match(/#[^\s#]+/gu) ?? [];
}

export const has = (text, hashtag) => tagsAtEnd(text).some((tag) => key(tag) === key(hashtag));

export function add(text, hashtag) {
  const said = text.trimEnd();
  return said ? `${said} ${hashtag}` : hashtag;
}

export function remove(text, hashtag) {
  const tail = text.match(TAIL)[0];
  const kept = tail.replaceAll(/\s*#[^\s#]+/gu, (tag) => (key(tag.trim()) === key(hashtag) ? "" : tag));
  return (text.slice(0, text.length - tail.length) + kept).trimEnd();
}

// What the service is asked about: without the hashtags that were chosen here.
export function without(text, chosen) {
  return [...chosen].reduce((rest, hashtag) => remove(rest, hashtag), text).trim();
}

export const length = (text) => [...text].length;

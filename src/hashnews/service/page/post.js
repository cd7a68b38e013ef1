// A post as a text with hashtags: at its end, or within it where a hashtag stands for its words.

const HASHTAG = /(?<![\p{L}\p{N}_/&])#[\p{L}\p{M}\p{N}_]+/gu;

export const key = (hashtag) => hashtag.replace(/^#/, "").replaceAll("_", "").toLowerCase();
export const same = (one, other) => key(one) === key(other);

export const tags = (text) => text.match(HASHTAG) ?? [];
export const has = (text, hashtag) => tags(text).some((tag) => same(tag, hashtag));

// The text with a hashtag at its end; who had left a space to write on has one again.
export function add(text, hashtag) {
  const said = text.trimEnd();
  return said ? `${said} ${hashtag}${said === text ? "" : " "}` : hashtag;
}

// Where a cursor stands once a text has changed: by the words it stood at.
export function moved(at, text, changed) {
  const isInWords = at < text.length || /\S$/.test(text);
  if (isInWords && changed.startsWith(text.slice(0, at))) return at;
  return Math.max(0, changed.length - (text.length - at));
}

// The words of a hashtag as it is written: #SuperBowlLVI is Super, Bowl, LVI.
export const wordsOf = (hashtag) => hashtag.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{M}]+|[\p{Lo}\p{M}]+|\p{N}+/gu) ?? [];

// Where the words of a hashtag stand in a text, as [start, end]; null where they do not.
export function place(text, words) {
  const spelled = words.map((word) => word.replaceAll(/[^\p{L}\p{M}\p{N}]/gu, "\\$&")).join("[\\s'’.-]*");
  const found = words.length && text.match(new RegExp(`(?<![\\p{L}\\p{M}\\p{N}_#@/.])${spelled}(?![\\p{L}\\p{M}\\p{N}_]|\\.[\\p{L}\\p{N}])`, "iu"));
  return found ? [found.index, found.index + found[0].length] : null;
}

// The text with the words turned into the hashtag, and the words as they were.
export function turn(text, hashtag, words) {
  const [start, end] = place(text, words);
  return { text: text.slice(0, start) + hashtag + text.slice(end), was: text.slice(start, end) };
}

// The text without a hashtag; one that stood for words gives them back.
export function remove(text, hashtag, was = "") {
  const left = text.replaceAll(HASHTAG, (tag) => (same(tag, hashtag) ? `${was}\u0000` : tag));
  return left.replaceAll(was ? "\u0000" : /[^\S\n]*\u0000/g, "").trimEnd();
}

// What the service is asked about: without the hashtags that were chosen here.
export function without(text, chosen) {
  return [...chosen].reduce((rest, [hashtag, was]) => remove(rest, hashtag, was), text).trim();
}

// Talking to the service: a refusal becomes a ServiceError with a message for people.

import { TAB, keep, recall } from "/page/kept.js";

export class ServiceError extends Error {
  constructor(message, wait = 0, status = 0) {
    super(message);
    this.status = status;
    this.wait = wait; // seconds after which trying again makes sense; 0: it does not by itself
  }
}

// The keys of the service, where it has any. The one that reads stays in the browser, so that it is
// asked for once; the one that writes goes with the tab. Where one is missing, the other may do.
let readKey = recall("key", null);
let writeKey = recall("key", null, TAB);

export function useReadKey(key) {
  keep("key", (readKey = key));
}

export function useKey(key) {
  keep("key", (writeKey = key), TAB);
}

function withKey(path, options) {
  const key = path.startsWith("/v1/ways") ? (writeKey ?? readKey) : (readKey ?? writeKey);
  return key ? { ...options, headers: { ...options.headers, Authorization: `Bearer ${key}` } } : options;
}

async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, withKey(path, options));
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServiceError("The service cannot be reached. Is it running?", 3);
  }
  let content = null;
  try {
    content = await response.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
  }
  if (response.ok && content !== null) return content;
  const problem = content?.error;
  const isBusy = [429, 503].includes(response.status);
  const wait = isBusy ? Number(response.headers.get("Retry-After")) || 1 : 0;
  throw new ServiceError(sentence(problem?.message ?? `the service answered ${response.status}`), wait, response.status);
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

const send = (path, content, options = {}) =>
  ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content), ...options });

export const suggest = (post, withModel, signal) => send(`/v1/suggest?n=5&llm=${withModel}`, post, { signal });

export function trends(at, signal) {
  const when = at === null ? "" : `&at=${encodeURIComponent(new Date(at).toISOString())}`;
  return ask(`/v1/trends?n=12${when}`, { signal });
}

export const ready = () => ask("/ready");
export const article = (id) => ask(`/v1/articles/${encodeURIComponent(id)}`);

// ----- ways in -----

const PART = 4 << 20; // bytes of an archive in one request

export const ways = () => ask("/v1/ways");
export const follow = (address, user) => send("/v1/ways", { address, user });
export const pause = (address, paused) => send("/v1/ways/pause", { address, paused });
export const unfollow = (address) => ask(`/v1/ways?address=${encodeURIComponent(address)}`, { method: "DELETE" });
export const forget = (author) => send("/v1/ways/forget", { author });

// Send an archive part by part; `sent` is told the share that is there, and its id.
export async function upload(file, user, replies, sent) {
  const { upload: id } = await send("/v1/ways/archives", { name: file.name.slice(-200) || "archive", size: file.size, user, replies });
  for (let at = 0; at < file.size; at += PART) {
    sent(at / file.size, id);
    const body = await file.slice(at, at + PART).arrayBuffer();
    const headers = { "Content-Type": "application/octet-stream" };
    await ask(`/v1/ways/parts?upload=${id}&at=${at}`, { method: "PUT", headers, body });
  }
  return id;
}

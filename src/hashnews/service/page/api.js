// Talking to the service: a refusal becomes a ServiceError with a message for people.

export class ServiceError extends Error {
  constructor(message, wait = 0) {
    super(message);
    this.wait = wait; // seconds after which trying again makes sense; 0: it does not by itself
  }
}

async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, options);
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
  if (response.status === 503) {
    const wait = Number(response.headers.get("Retry-After")) || 1;
    throw new ServiceError(sentence(problem?.message ?? "the service is busy"), wait);
  }
  throw new ServiceError(sentence(problem?.message ?? `the service answered ${response.status}`));
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

export function suggest(post, signal) {
  return ask("/suggest?n=5", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(post),
    signal,
  });
}

export function trends(at, signal) {
  const when = at === null ? "" : `&at=${encodeURIComponent(new Date(at).toISOString())}`;
  return ask(`/trends?n=12${when}`, { signal });
}

export const ready = () => ask("/ready");
export const article = (id) => ask(`/articles/${encodeURIComponent(id)}`);

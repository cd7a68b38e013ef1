// What the browser remembers between visits: the author, the network, the groups, the key that reads.

const PREFIX = "hashnews.";

export function recall(name, otherwise) {
  try {
    const found = JSON.parse(localStorage.getItem(PREFIX + name));
    return found ?? otherwise;
  } catch {
    return otherwise; // no storage, or somebody else wrote there
  }
}

export function keep(name, value) {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // a browser that keeps nothing: all works but for the next visit
  }
}

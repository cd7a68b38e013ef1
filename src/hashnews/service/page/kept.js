// What the browser remembers: between visits the author, the network, the groups, the key that reads;
// as long as the tab is open, the draft and the key that writes.

const PREFIX = "hashnews.";
const BROWSER = "localStorage";
export const TAB = "sessionStorage";

export function recall(name, otherwise, place = BROWSER) {
  try {
    const found = JSON.parse(window[place].getItem(PREFIX + name));
    return found ?? otherwise;
  } catch {
    return otherwise; // no storage, or somebody else wrote there
  }
}

export function keep(name, value, place = BROWSER) {
  try {
    window[place].setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // a browser that keeps nothing: all works but for the next visit
  }
}

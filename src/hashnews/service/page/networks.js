// Where a post goes: how each network counts it, what is usual there, and how to hand a text over.

import { codePoints, graphemes, mastodonLength, threadsLength, xLength } from "/page/count.js";

const sharing = (address) => (text) => address + encodeURIComponent(text);

export const NETWORKS = {
  mastodon: {
    name: "Mastodon", limit: 500, length: mastodonLength, most: 5,
    custom: "Two to five hashtags, mostly at the end. People follow them.",
    share: (text, server) => `https://${server}/share?text=${encodeURIComponent(text)}`,
  },
  bluesky: {
    name: "Bluesky", limit: 300, length: graphemes, most: 3,
    custom: "One to three hashtags, in the text or beside it, where they cost no characters.",
    share: sharing("https://bsky.app/intent/compose?text="),
  },
  x: {
    name: "X", limit: 280, length: xLength, most: 2,
    custom: "One or two hashtags, best within the sentence.",
    share: sharing("https://x.com/intent/post?text="),
  },
  threads: {
    name: "Threads", limit: 500, length: threadsLength, most: 1,
    custom: "One hashtag: the first is the topic, any other stays plain text.",
    share: sharing("https://www.threads.com/intent/post?text="),
  },
  linkedin: {
    name: "LinkedIn", limit: 3000, length: codePoints, most: 5,
    custom: "Three to five hashtags, at the end.",
  },
  instagram: {
    name: "Instagram", limit: 2200, length: codePoints, most: 5,
    custom: "Three to five hashtags, at the end of the caption.",
  },
};

export const USUAL_SERVER = "mastodon.social";
export const MOST_BESIDE = 8; // hashtags that a post on Bluesky can have beside its text

// The name of a server as somebody may write it; empty where it is none.
export function serverName(written) {
  const name = written.trim().toLowerCase().replace(/^https?:\/\//, "").replace(/^@?[^@/]*@/, "").replace(/\/.*$/, "");
  return /^[\p{L}\p{N}]([\p{L}\p{N}.-]*[\p{L}\p{N}])?(:\d+)?$/u.test(name) ? name : "";
}

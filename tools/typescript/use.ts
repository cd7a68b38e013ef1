// Asks a running service by the generated types; the compiler holds every path and field to them.
import createClient from "openapi-fetch";
import type { components, paths } from "./hashnews.js";

const [, , baseUrl, key] = process.argv;
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
type Post = components["schemas"]["AskedPost"];
const post: Post = {
  id: "p1",
  text: "Marching tonight in Minneapolis for George Floyd.",
  created_at: "2020-05-29T20:00:00Z",
};

const suggested = await client.POST("/v1/suggest", { body: post, params: { query: { n: 3 } } });
if (suggested.error) throw new Error(suggested.error.error.message);
const hashtags: string[] = suggested.data.suggestions.map((one) => one.hashtag);
const rising = await client.GET("/v1/trends", {
  params: { query: { at: "2020-05-29T20:00:00Z", n: 1 } },
});
const none = await client.GET("/v1/articles/{identifier}", {
  params: { path: { identifier: "none" } },
});
const added = await client.POST("/v1/posts", {
  body: { posts: [{ ...post, id: "by-typescript", text: "Bread #sourdough" }] },
});
const deleted = await client.DELETE("/v1/posts/{identifier}", {
  params: { path: { identifier: "by-typescript" } },
});
console.log(
  JSON.stringify({
    hashtags,
    rising: rising.data?.trends[0]?.entity,
    none: none.error?.error.code,
    added: added.data?.added,
    deleted: deleted.data?.deleted,
  }),
);

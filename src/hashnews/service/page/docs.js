// The API's own page: every operation of openapi.json, with what it takes, what it gives, and a try.

import { $, element } from "/page/dom.js";

let description;

const resolve = (schema) => (schema?.$ref ? resolve(schema.$ref.split("/").slice(1).reduce((part, key) => part[key], description)) : schema);

// A small value of a schema, to begin with.
function example(schema, depth = 0) {
  const known = resolve(schema) ?? {};
  if (known.examples) return known.examples[0];
  if (known.default !== undefined) return known.default;
  if (known.anyOf) return example(known.anyOf.find((part) => part.type !== "null"), depth);
  if (known.type === "array") return known.prefixItems ? known.prefixItems.map((part) => example(part, depth + 1)) : [example(known.items, depth + 1)];
  if (known.type === "object") {
    const wanted = Object.entries(known.properties ?? {}).filter(([name]) => known.required?.includes(name));
    return Object.fromEntries(wanted.map(([name, part]) => [name, example(part, depth + 1)]));
  }
  if (known.format === "date-time") return "2020-06-02T14:05:00Z";
  return { string: "text", integer: 1, number: 0, boolean: true }[known.type] ?? null;
}

function typeOf(schema) {
  const known = resolve(schema) ?? {};
  if (known.anyOf) return known.anyOf.map(typeOf).join(" or ");
  if (known.type === "array") return `list of ${typeOf(known.items ?? {})}`;
  return schema.$ref ? schema.$ref.split("/").at(-1) : (known.format ?? known.type ?? "any");
}

function limits(schema) {
  const known = resolve(schema) ?? {};
  const told = { minimum: "at least", maximum: "at most", minLength: "length from", maxLength: "length to", minItems: "items from", maxItems: "items to" };
  return Object.entries(told).flatMap(([name, words]) => (known[name] === undefined ? [] : [`${words} ${known[name].toLocaleString("en")}`])).join(", ");
}

// A text, what stands between backticks as code.
const withCode = (text) => text.split("`").map((part, at) => (at % 2 ? element("code", {}, part) : part));

function fields(title, rows) {
  if (!rows.length) return null;
  const cells = rows.map(([name, schema, needed, what]) =>
    element("tr", {},
      element("td", {}, element("code", {}, name), needed ? " *" : ""),
      element("td", {}, typeOf(schema)),
      element("td", { class: "dim" }, ...withCode([what?.replace(/\.$/, ""), limits(schema)].filter(Boolean).join("; "))),
    ));
  const heads = ["Name", "Type", "About"].map((text) => element("th", { scope: "col" }, text));
  return element("div", {}, element("h3", {}, title), element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...cells)));
}

function properties(schema) {
  const known = resolve(schema);
  return Object.entries(known?.properties ?? {}).map(([name, part]) => [name, part, known.required?.includes(name), part.description]);
}

function attempt(method, path, operation, body) {
  const inputs = (operation.parameters ?? []).map((parameter) => {
    const input = element("input", { value: parameter.schema.default ?? "" });
    return { parameter, input, field: element("label", { class: "field" }, element("span", {}, parameter.name), input) };
  });
  const key = operation.security ? element("input", { autocomplete: "off", spellcheck: false }) : null;
  const text = body ? element("textarea", { value: JSON.stringify(example(body), null, 2), spellcheck: false, "aria-label": "Body" }) : null;
  const send = element("button", { type: "button", class: "small" }, "Send");
  const shown = element("pre", { hidden: true, tabIndex: 0, role: "status", "aria-label": "Answer" });
  send.addEventListener("click", async () => {
    let address = path;
    const query = new URLSearchParams();
    for (const { parameter, input } of inputs) {
      if (parameter.in === "path") address = address.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
      else if (input.value !== "") query.set(parameter.name, input.value);
    }
    const headers = {};
    if (text) headers["Content-Type"] = "application/json";
    if (key?.value) headers.Authorization = `Bearer ${key.value}`;
    shown.hidden = false;
    try {
      const response = await fetch(query.size ? `${address}?${query}` : address, { method, headers, body: text?.value });
      const content = await response.text();
      shown.textContent = `${response.status} ${response.statusText}\n\n${pretty(content)}`;
    } catch (error) {
      shown.textContent = error.message;
    }
  });
  const keyField = key && element("label", { class: "field" }, element("span", {}, "Key"), key);
  return element("details", {}, element("summary", {}, "Try it"), ...inputs.map(({ field }) => field), keyField, text, send, shown);
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function card(method, path, operation) {
  const body = operation.requestBody?.content?.["application/json"]?.schema;
  const given = operation.responses["200"]?.content?.["application/json"]?.schema;
  const parameters = (operation.parameters ?? []).map((p) => [p.name, p.schema, p.required, p.description]);
  const others = Object.keys(operation.responses).filter((status) => status !== "200");
  return element("section", { class: "card" },
    element("h2", {}, element("span", { class: "method" }, method.toUpperCase()), element("code", {}, path)),
    element("p", {}, ...withCode(operation.description ?? operation.summary)),
    fields("Parameters", parameters),
    body ? fields("Body (JSON)", properties(body)) : null,
    given ? fields("Answer (JSON)", properties(given)) : null,
    others.length ? element("p", { class: "dim" }, `Errors, all of one shape: ${others.join(", ")}`) : null,
    attempt(method.toUpperCase(), path, operation, body));
}

try {
  description = await (await fetch("/openapi.json")).json();
  const cards = Object.entries(description.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => card(method, path, operation)));
  $("operations").replaceChildren(...cards);
} catch (error) {
  $("operations").replaceChildren(element("p", {}, `The description cannot be read: ${error.message}`));
}

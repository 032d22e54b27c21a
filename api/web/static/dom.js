// Small things for building a page. Text is only ever text: nothing here makes markup of a string.

/** el("p.hint", {id: "x"}, "text", node, …): an element; `class` after dots, properties by name, attributes with a dash. */
export function el(tag, properties = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const made = document.createElement(name);
  if (classes.length) made.className = classes.join(" ");
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined) continue;
    if (key.includes("-") || key === "role") made.setAttribute(key, value);
    else made[key] = value;
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

export const byId = (id) => document.getElementById(id);
// what the page gives its scripts to say; parts of a page may bring their own
export const words = Object.assign({}, ...[...document.querySelectorAll("#words, .words")].map((one) => JSON.parse(one.textContent)));

/** "{n} chosen" with its values. */
export const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

/** What went wrong, in words for people. */
export class Refused extends Error {
  constructor(problem) {
    super(words.problems?.[problem.code] ?? problem.title ?? problem.code);
    this.detail = problem.detail ?? "";
    this.code = problem.code;
  }
}

/** A reply, or Refused. */
export async function call(address, options = {}) {
  let reply;
  try {
    reply = await fetch(address, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused({ code: "network" });
  }
  if (reply.ok) return reply;
  if (reply.status === 401) location.reload(); // the form to sign in is at this very address
  const problem = await reply.json().catch(() => ({ code: "internal_error" }));
  throw new Refused(problem);
}

export const getJson = async (address) => (await call(address, { headers: { Accept: "application/json" } })).json();

export const postJson = (address, body, options = {}) =>
  call(address, {
    method: "POST",
    body: JSON.stringify(body),
    ...options,
    headers: { "Content-Type": "application/json", Accept: "application/json", ...options.headers },
  });

/** Server-sent events of a reply, one by one: {name, data}. */
export async function* events(reply) {
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const pieces = (rest + value).split("\n\n");
      rest = pieces.pop();
      for (const piece of pieces) {
        const name = /^event: (.*)$/m.exec(piece)?.[1];
        const data = /^data: (.*)$/m.exec(piece)?.[1];
        if (name && data) yield { name, data: JSON.parse(data) };
      }
    }
  } finally {
    await reader.cancel(); // whoever stops reading lets the connection go
  }
}

// Where to look: sources and documents of the library, chosen by name. The list is asked for when it is opened.
import { byId, el, fill, getJson, words } from "./dom.js";

const SHOWN = 30;
const chosenSources = new Set();
const chosenDocuments = new Map();
let documents = [];

/** What a question's `scope` is; undefined = everything. */
export function scope() {
  if (!chosenSources.size && !chosenDocuments.size) return undefined;
  const wanted = {};
  if (chosenSources.size) wanted.sources = [...chosenSources];
  if (chosenDocuments.size) wanted.doc_ids = [...chosenDocuments.keys()];
  return wanted;
}

export function choose(docId, title) {
  chosenDocuments.set(docId, title);
  say();
}

byId("scope").addEventListener("toggle", async () => {
  if (!byId("scope").open) return;
  place();
  documents = await getJson("/api/documents"); // each time: something may have been imported since
  const sources = [...new Set(documents.map((one) => one.source_label))];
  byId("scope-sources").replaceChildren(
    byId("scope-sources").querySelector("legend"),
    ...sources.map((label) => box(label, chosenSources.has(label), (on) => (on ? chosenSources.add(label) : chosenSources.delete(label)))),
  );
  list();
});
byId("scope").addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  byId("scope").open = false;
  byId("scope").querySelector("summary").focus();
});
document.addEventListener("click", (event) => {
  if (!byId("scope").contains(event.target)) byId("scope").open = false;
});
byId("scope-filter").addEventListener("input", list);
byId("scope-filter").addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
byId("scope-clear").addEventListener("click", () => {
  chosenSources.clear();
  chosenDocuments.clear();
  for (const input of byId("scope").querySelectorAll("input[type=checkbox]")) input.checked = false;
  say();
});

/** Above or below, where there is more room, and no larger than that: in the middle of a page its top would be under the head. */
function place() {
  const at = byId("scope").getBoundingClientRect();
  const above = at.top - document.querySelector(".top").getBoundingClientRect().bottom;
  const below = window.innerHeight - at.bottom;
  const body = byId("scope").querySelector(".scope-body");
  body.classList.toggle("below", below > above);
  body.style.maxHeight = `${Math.max(above, below) - 16}px`;
}

function list() {
  if (!documents.length) return; // not here yet
  const wanted = byId("scope-filter").value.trim().toLowerCase();
  const found = documents.filter((one) => `${one.title}\n${one.key}`.toLowerCase().includes(wanted));
  byId("scope-documents").replaceChildren(
    ...found.slice(0, SHOWN).map((one) =>
      box(one.title, chosenDocuments.has(one.doc_id), (on) => (on ? chosenDocuments.set(one.doc_id, one.title) : chosenDocuments.delete(one.doc_id))),
    ),
  );
  const left = found.length - SHOWN;
  byId("scope-more").textContent = !found.length ? words.ask.scope_empty : left > 0 ? fill(words.ask.scope_more, { n: left }) : "";
}

function box(text, checked, change) {
  const input = el("input", { type: "checkbox", checked });
  input.addEventListener("change", () => {
    change(input.checked);
    say();
  });
  return el("label.check", {}, input, text);
}

function say() {
  const names = [...chosenSources, ...chosenDocuments.values()];
  byId("scope-said").textContent = !names.length ? words.ask.scope_all : names.length === 1 ? names[0] : fill(words.ask.scope_some, { n: names.length });
}

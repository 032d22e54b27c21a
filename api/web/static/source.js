// The panel beside the answer: a cited passage in its section, with what stands before and after it.
import { byId, call, el, fill, Refused, words } from "./dom.js";

const panel = byId("source");
const title = byId("source-title");
const body = byId("source-body");
let opener = null;

byId("source-close").addEventListener("click", close);
panel.addEventListener("keydown", (event) => event.key === "Escape" && close());

export function close() {
  panel.hidden = true;
  opener?.setAttribute("aria-expanded", "false");
  opener?.focus();
  opener = null;
}

/** citation: of an answer. by: the element that was activated; it gets the focus back. */
export async function open(citation, by) {
  opener?.setAttribute("aria-expanded", "false");
  opener = by;
  by.setAttribute("aria-expanded", "true");
  panel.hidden = false;
  await show(citation.block_id, citation.snapshot_id, citation.quote);
}

async function show(blockId, snapshotId, quote) {
  title.textContent = words.block.loading;
  body.replaceChildren();
  title.focus();
  const address = `/api/blocks/${blockId.replace("#", "%23")}?snapshot=${encodeURIComponent(snapshotId)}`;
  try {
    const view = await (await call(address, { headers: { Accept: "application/json" } })).json();
    const stored = view.source === "stored_quote";
    title.textContent = stored ? view.title : view.document.title;
    body.replaceChildren(...(stored ? ofQuote(view) : ofBlock(view, quote, snapshotId, address)));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    title.textContent = words.block.title;
    body.replaceChildren(el("p.notice.bad", { role: "alert" }, error.message));
  }
}

function ofBlock(view, quote, snapshotId, address) {
  const { block, document: doc } = view;
  const near = (blocks, label) =>
    blocks.length
      ? el("section", { "aria-label": label }, ...blocks.map((one) => passage(one, "near", doc.lang)))
      : null;
  return [
    facts({ ...doc, section_path: block.section_path, page_first: block.page_first, page_last: block.page_last }),
    notice(view),
    block.flags?.includes("injection_suspected") ? el("p.notice.warn", {}, words.block.injection_suspected) : null,
    near(view.before, words.block.before),
    el("section", { "aria-label": words.block.cited }, passage(block, "cited", doc.lang, quote)),
    near(view.after, words.block.after),
    el(
      "p.links",
      {},
      el("a", { href: address, target: "_blank", rel: "noopener" }, words.block.open),
      el("a", { href: `/documents/${doc.doc_id}?snapshot=${encodeURIComponent(view.snapshot_id)}` }, words.block.document),
    ),
  ].filter(Boolean);
}

const ofQuote = (view) => [
  facts(view),
  el("p.notice.warn", {}, words.block.stored),
  el("div.passage.cited", {}, view.quote),
];

function notice(view) {
  if (view.in_active_snapshot) return null;
  return el("p.notice.warn", {}, view.active_version === null ? words.block.gone : fill(words.block.outdated, { n: view.active_version }));
}

function facts(of) {
  const rows = [
    [words.block.source, of.source_label],
    [words.block.section, of.section_path === "/" ? "" : of.section_path],
    [words.block.page, pages(of)],
    [words.block.version, String(of.version)],
    [words.block.updated, of.updated_at_ms ? new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium" }).format(of.updated_at_ms) : ""],
    [words.block.trust, words.trust[of.trust]],
  ];
  return el("dl.facts", {}, ...rows.filter(([, value]) => value).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

export function pages({ page_first: first, page_last: last }) {
  if (first === null || first === undefined) return "";
  return last && last !== first ? `${first}–${last}` : String(first);
}

function passage(block, kind, lang, quote = "") {
  const made = el(`div.passage.${kind}`, { lang });
  if (block.table_header) made.append(el("span.header", {}, block.table_header));
  const at = quote ? block.text.indexOf(quote) : -1;
  if (at < 0 || quote.trim() === block.text.trim()) made.append(block.text.trim());
  else made.append(block.text.slice(0, at).trimStart(), el("mark", {}, quote), block.text.slice(at + quote.length).trimEnd());
  return made;
}

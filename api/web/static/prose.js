// An answer's text as elements: paragraphs, lists, code, emphasis, [n] as a chip where it is a citation, doubtful sentences marked.
import { el } from "./dom.js";
import { firstAfter, placeAt } from "./doubts.js";

const FENCE = /^```/;
const ITEM = /^\s*(?:[-*•]|(\d+)[.)、])\s+(.*)$/s;
const HEAD = /^#{1,6}\s+(.*)$/s;
const INLINE = /(\*\*[^*\n]+\*\*|`[^`\n]+`|\[\d+\])/;

/**
 * chip(n, claim): the element of citation n in that sentence, null when there is none. found: where the checked sentences stand.
 * doubt(claim): {around, after} for a sentence to be marked, null for others.
 */
export function prose(text, { chip, found, doubt }) {
  const root = el("div.prose");
  let paragraph = [];
  let begun = 0; // where the paragraph begins in the text
  let list = null;
  let here = 0; // where the line does
  const inline = (said, start) => marked(pieces(said, start, found, chip), doubt);
  const close = () => {
    if (paragraph.length) root.append(el("p", {}, ...inline(paragraph.join("\n"), begun)));
    paragraph = [];
    list = null;
  };
  const lines = text.split("\n");
  const starts = lines.map((line) => {
    const start = here;
    here += line.length + 1;
    return start;
  });
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    const endsAt = starts[at] + line.length;
    const item = ITEM.exec(line);
    const head = HEAD.exec(line);
    if (FENCE.test(line)) {
      close();
      let end = at + 1;
      while (end < lines.length && !FENCE.test(lines[end])) end += 1;
      root.append(el("pre", {}, el("code", {}, lines.slice(at + 1, end).join("\n"))));
      at = end;
    } else if (!line.trim()) {
      close();
    } else if (head) {
      close();
      root.append(el("p", {}, el("strong", {}, ...inline(head[1], endsAt - head[1].length))));
    } else if (item) {
      const kind = item[1] ? "OL" : "UL";
      if (list?.tagName !== kind) {
        close();
        list = el(kind.toLowerCase(), item[1] ? { start: Number(item[1]) } : {});
        root.append(list);
      }
      list.append(el("li", {}, ...inline(item[2], endsAt - item[2].length)));
    } else {
      if (list) close();
      if (!paragraph.length) begun = starts[at];
      paragraph.push(line);
    }
  }
  close();
  return root;
}

/** [{node, end, place}] of one block's text, cut where checked sentences begin and end. start: of it in the answer. */
function pieces(said, start, found, chip) {
  const made = [];
  let at = start;
  for (const piece of said.split(INLINE).filter(Boolean)) {
    const end = at + piece.length;
    const place = placeAt(found, at);
    const marker = /^\[(\d+)\]$/.exec(piece);
    if (/^\*\*.+\*\*$/s.test(piece)) made.push({ node: el("strong", {}, piece.slice(2, -2)), end, place });
    else if (/^`.+`$/.test(piece)) made.push({ node: el("code", {}, piece.slice(1, -1)), end, place });
    else if (marker) made.push({ node: chip(Number(marker[1]), place?.claim) || piece, end, place });
    else {
      const borders = [];
      for (let next = firstAfter(found, at); next < found.length && found[next].start < end; next += 1)
        borders.push(...[found[next].start, found[next].end].filter((border) => at < border && border < end));
      for (const next of [...borders, end]) {
        made.push({ node: said.slice(at - start, next - start), end: next, place: placeAt(found, at) });
        at = next;
      }
    }
    at = end;
  }
  return made;
}

/** The pieces of a doubtful sentence in an element of their own, what there is to say of it behind its end. */
function marked(made, doubt) {
  const nodes = [];
  let open = null; // {place, element}
  for (const { node, end, place } of made) {
    const said = place ? doubt(place.claim) : null;
    if (!said) {
      nodes.push(node);
      continue;
    }
    if (open?.place !== place) {
      open = { place, element: said.around };
      nodes.push(open.element);
    }
    open.element.append(node);
    if (end >= place.end && said.after) nodes.push(said.after);
  }
  return nodes;
}

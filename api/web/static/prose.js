// An answer's text as elements: paragraphs, lists, code, emphasis, and [n] as a chip where it is a citation.
import { el } from "./dom.js";

const FENCE = /^```/;
const ITEM = /^\s*(?:[-*•]|(\d+)[.)、])\s+(.*)$/;
const HEAD = /^#{1,6}\s+(.*)$/;
const INLINE = /(\*\*[^*\n]+\*\*|`[^`\n]+`|\[\d+\])/;

/** chip(n): the element of citation n, null when there is none. */
export function prose(text, chip) {
  const root = el("div.prose");
  let paragraph = [];
  let list = null;
  const close = () => {
    if (paragraph.length) root.append(el("p", {}, ...inline(paragraph.join("\n"), chip)));
    paragraph = [];
    list = null;
  };
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    const item = ITEM.exec(line);
    const head = HEAD.exec(line);
    if (FENCE.test(line)) {
      close();
      const end = lines.findIndex((other, index) => index > at && FENCE.test(other));
      const code = lines.slice(at + 1, end < 0 ? lines.length : end);
      root.append(el("pre", {}, el("code", {}, code.join("\n"))));
      at = end < 0 ? lines.length : end;
    } else if (!line.trim()) {
      close();
    } else if (head) {
      close();
      root.append(el("p", {}, el("strong", {}, ...inline(head[1], chip))));
    } else if (item) {
      const kind = item[1] ? "OL" : "UL";
      if (list?.tagName !== kind) {
        close();
        list = el(kind.toLowerCase(), item[1] ? { start: Number(item[1]) } : {});
        root.append(list);
      }
      list.append(el("li", {}, ...inline(item[2], chip)));
    } else {
      if (list) close();
      paragraph.push(line);
    }
  }
  close();
  return root;
}

function inline(text, chip) {
  return text.split(INLINE).map((piece) => {
    if (/^\*\*.+\*\*$/s.test(piece)) return el("strong", {}, piece.slice(2, -2));
    if (/^`.+`$/.test(piece)) return el("code", {}, piece.slice(1, -1));
    const marker = /^\[(\d+)\]$/.exec(piece);
    return (marker && chip(Number(marker[1]))) || piece;
  });
}

// Where the checked sentences of an answer stand in it, so that a doubt is told at its own sentence.

const LEFT_OUT = /\s|[[［] ?\d+ ?[\]］]/g; // what checking takes out of a sentence or leaves blank: marks, and space beside them
const MARKS_BEHIND = /^(?:[ \t]*\[\d+\])+/;

const MOST_LOOKED = 50; // places of a sentence that is said again and again: an answer is looked through in time that grows with it

/** [{start, end, claim}] of those that are found, in order, none overlapping another. claims: in the order of the text. */
export function places(text, claims) {
  const { plain, at } = without(text);
  const found = [];
  let from = 0;
  for (const claim of claims) {
    const sentence = without(claim.sentence).plain;
    const all = sentence ? occurrences(plain, sentence, from).map((first) => around(text, at[first], at[first + sentence.length - 1] + 1)) : [];
    const place = all.find(({ start, end }) => claim.markers.every((one) => text.slice(start, end).includes(`[${one}]`))) ?? all[0];
    if (!place) continue;
    found.push({ ...place, claim });
    from = firstWhere(at, (index) => index >= place.end);
    if (from === at.length) break;
  }
  return found;
}

/** The place in order that ends first after index: the only one that may hold it. */
export const firstAfter = (found, index) => firstWhere(found, ({ end }) => index < end);

export function placeAt(found, index) {
  const place = found[firstAfter(found, index)];
  return place && place.start <= index ? place : undefined;
}

/** In a list of which the last part holds, where that part begins; its length if none does. */
function firstWhere(list, holds) {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(list[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}

function without(text) {
  let plain = "";
  const at = [];
  let last = 0;
  const take = (end) => {
    for (let index = last; index < end; index += 1) at.push(index);
    plain += text.slice(last, end);
  };
  for (const match of text.matchAll(LEFT_OUT)) {
    take(match.index);
    last = match.index + match[0].length;
  }
  take(text.length);
  return { plain, at };
}

function occurrences(plain, sentence, from) {
  const found = [];
  for (let at = plain.indexOf(sentence, from); at >= 0 && found.length < MOST_LOOKED; at = plain.indexOf(sentence, at + sentence.length)) found.push(at);
  return found;
}

/** With the marks behind it, which are the sentence's. */
function around(text, start, end) {
  return { start, end: end + (MARKS_BEHIND.exec(text.slice(end))?.[0].length ?? 0) };
}

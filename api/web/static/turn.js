// One question and what becomes of it: steps while they happen, unchecked thoughts as such, then the answer with its sources.
import { el, fill, words } from "./dom.js";
import { places } from "./doubts.js";
import { prose } from "./prose.js";
import { pages } from "./source.js";
import { thumbs } from "./thumbs.js";

const TOLD_AT_SENTENCE = new Set(["citation_unsupported", "citation_unproved", "uncited_claims"]);
const DOUBTED = { unsupported: ".doubted", unchecked: ".unchecked" };
const BADGE = { complete: "good", partial: "warn", refused: "warn", clarification: "", failed: "bad" };

export class Turn {
  /** open(citation, element): show a source. again(): ask once more. say(text): to whoever listens rather than looks. */
  constructor(question, { open, again, say }) {
    this.over = false;
    this.open = open;
    this.again = again;
    this.say = say;
    this.steps = el("ol");
    this.stepsBox = el("details.steps.live", { open: true }, el("summary", {}, words.run.steps), this.steps);
    this.body = el("div.turn");
    this.root = el("article", { "aria-label": question.slice(0, 80) }, el("h2.asked", {}, question), this.body);
    this.body.append(this.stepsBox);
    this.draft = null;
    this.step(words.run.starting);
  }

  take({ name, data }) {
    switch (name) {
      case "turn.started":
        return this.step(data.final ? words.run.writing : words.run.thinking);
      case "thought":
        return this.think(data.text.trim());
      case "tool.called":
        return this.step(called(data));
      case "tool.result":
        return this.result(data);
      case "answer.delta":
        return this.write(data.text);
      case "run.completed":
        return this.complete(data.answer);
      case "run.failed":
        return data.answer ? this.complete(data.answer, data.message) : this.fail(data.message);
      default:
        return undefined; // citations come again with the answer
    }
  }

  step(what) {
    if (typeof what === "string") this.say(what);
    this.steps.append(el("li", {}, what));
  }

  /** What the model thinks on the way: nobody has checked it, and it says so. */
  think(text) {
    if (!text) return;
    this.steps.append(el("li.thought", {}, el("span.badge.warn", { title: words.run.checking_hint }, words.run.checking), ` ${text}`));
  }

  result({ harness_status: status, admitted, blocks, summary }) {
    const failed = status !== "executed" && status !== "ok";
    const said = !admitted && !failed ? words.run.too_large : blocks ? fill(words.run.found, { n: blocks }) : failed ? words.run.failed_step : words.run.found_none;
    this.steps.lastElementChild?.append(el("span", { title: summary }, ` — ${said}`));
  }

  /** Pieces of the answer: checked already, they only need time to arrive. */
  write(text) {
    if (!this.draft) {
      this.draft = el("div.draft", { "aria-busy": "true" });
      this.body.append(this.draft);
    }
    this.draft.append(text);
  }

  /** given: what the reader said of it before. */
  complete(answer, message = "", given = null) {
    this.over = true;
    this.settle(answer.status === "failed");
    const byMarker = new Map(answer.citations.map((one) => [one.marker, one]));
    const chip = (marker, claim) => byMarker.has(marker) && this.chip(byMarker.get(marker), claim);
    const cancelled = answer.termination_reason === "cancelled";
    const text = cancelled ? words.run.stopped : answer.text || message;
    const listed = answer.snapshot?.failed_documents?.length; // what is missing, one by one
    const claims = answer.claims ?? [];
    const found = places(text, claims);
    const marked = new Set();
    const said = prose(text, { chip, found, doubt: (claim) => DOUBTED[claim.verdict] && marked.add(claim) && doubt(claim) });
    const notes = answer.limitations.filter(
      (one) => !(listed && one.code === "snapshot_partial") && !(claims.length && TOLD_AT_SENTENCE.has(one.code)),
    );
    this.body.append(
      ...[
        said,
        said.querySelector("mark.unchecked:not(:has(+ .why))") && el("p.hint.legend", {}, words.run.unchecked_hint),
        this.sources(answer.citations, claims),
        this.claims(claims.filter((one) => !marked.has(one))),
        part(words.run.notes, notes.map((one) => one.text)),
        missing(answer.snapshot),
        ...this.meta(answer, given),
      ].filter(Boolean),
    );
    this.say(`${answer.status === "failed" ? "" : words.run.done} ${text.slice(0, 2000)}`);
  }

  fail(message, detail = "") {
    this.over = true;
    this.settle(true);
    this.body.append(
      el("p.notice.bad", { role: "alert" }, message, detail && detail !== message ? el("span.hint", {}, ` ${detail}`) : ""),
      ...this.meta(null),
    );
  }

  settle(keepOpen) {
    this.stepsBox.classList.remove("live");
    this.stepsBox.open = keepOpen;
    this.draft?.remove();
  }

  /** claim: the sentence it stands at. */
  chip(citation, claim) {
    const { verdict } = claim ?? citation;
    const doubted = DOUBTED[verdict];
    const label = [`${words.run.source_n} ${citation.marker}`, citation.title, doubted ? words.run[verdict] : ""];
    const made = el(
      `button.chip${doubted ?? ""}`,
      { type: "button", title: where(citation), "aria-label": label.filter(Boolean).join(", "), "aria-expanded": "false", "aria-controls": "source" },
      String(citation.marker),
    );
    made.addEventListener("click", () => this.open(citation, made));
    return made;
  }

  sources(citations, claims) {
    if (!citations.length) return null;
    const items = citations.map((citation) => {
      const made = el(
        "button",
        { type: "button", "aria-expanded": "false", "aria-controls": "source" },
        el("span.number", {}, String(citation.marker)),
        el(
          "span",
          {},
          el("span.name", {}, citation.title),
          el("span.where", {}, ` ${where(citation)}`),
          failing(citation, claims),
        ),
      );
      made.addEventListener("click", () => this.open(citation, made));
      return el("li", {}, made);
    });
    return el("section.part", {}, el("h3", {}, words.run.sources), el("ul.sources", {}, ...items));
  }

  /** Those that don't stand in the text as they were checked. */
  claims(claims) {
    return part(
      words.run.claims,
      claims.filter((one) => one.verdict === "unsupported").map((one) => (one.problem ? `${one.sentence} — ${one.problem}` : one.sentence)),
    );
  }

  meta(answer, given) {
    const again = el("button.quiet.small", { type: "button" }, words.run.again);
    again.addEventListener("click", () => this.again());
    if (!answer) return [el("p.meta", {}, again)];
    const status = answer.termination_reason === "cancelled" ? "cancelled" : answer.status;
    const badge = el(`span.badge${BADGE[status] ? `.${BADGE[status]}` : ""}`, {}, words.status[status]);
    const took = el("span", {}, fill(words.run.took, { s: (answer.duration_ms / 1000).toFixed(1) }));
    const { buttons, more } = thumbs(answer.run_id, given);
    const trace = el("a.quiet.small", { href: `/traces/${answer.run_id}` }, words.run.trace);
    return [el("div.meta", {}, badge, took, again, answer.text && navigator.clipboard ? copier(answer) : null, trace, buttons), more];
  }
}

/** How a doubtful sentence looks, and what is said behind it: why, or to those who can't see the line under it that there is a doubt. */
function doubt({ verdict, problem }) {
  const said = problem || (verdict === "unsupported" ? words.run.unsupported : "");
  return {
    around: el(`mark${DOUBTED[verdict]}`, { title: words.run[verdict] }),
    after: said ? el(`span.why${DOUBTED[verdict]}`, {}, said) : el("span.unseen", {}, ` (${words.run[verdict]}) `),
  };
}

/** How many of the sentences at a source it does not support; of those it does, nothing. */
function failing({ marker, verdict }, claims) {
  const citing = claims.filter((one) => one.markers.includes(marker));
  const failed = citing.filter((one) => one.verdict === "unsupported").length;
  if (!failed && (citing.length || verdict !== "unsupported")) return "";
  return el("span.doubt", {}, ` ${failed < citing.length ? fill(words.run.fails, { n: failed, m: citing.length }) : words.run.unsupported}`);
}

/** A tool and its arguments, in words. */
function called({ tool, arguments: given }) {
  const { query, term } = JSON.parse(given);
  const what = query ?? term;
  return el("span", {}, words.run[tool] ?? tool, what ? " " : "", what ? el("q", {}, what) : "");
}

function where(citation) {
  const page = pages(citation);
  const section = citation.section_path === "/" ? "" : citation.section_path;
  return [citation.source_label, section, page && `${words.block.page} ${page}`].filter(Boolean).join(" · ");
}

function part(title, lines) {
  if (!lines.length) return null;
  return el("section.part", {}, el("h3", {}, title), el("ul.notes", {}, ...lines.map((line) => el("li", {}, line))));
}

function missing(snapshot) {
  const failed = snapshot?.failed_documents ?? [];
  if (!failed.length) return null;
  const shown = failed.map((one) => el("li", {}, el("strong", {}, one.key), " ", el("span.hint", {}, because(one))));
  return el("details.part.steps", {}, el("summary", {}, `${words.run.missing}${words.colon}${failed.length}`), el("p.hint", {}, words.run.missing_hint), el("ul.notes.missing", {}, ...shown));
}

/** Why a document could not be read, and what to do about just that kind of file. */
function because({ code, reason }) {
  const kind = Object.keys(words.save_as).find((name) => reason.includes(`(.${name})`));
  return kind ? fill(words.failures.of_kind, { from: `.${kind}`, to: words.save_as[kind] }) : (words.failures[code] ?? reason);
}

function copier(answer) {
  const made = el("button.quiet.small", { type: "button" }, words.run.copy);
  made.addEventListener("click", async () => {
    const list = answer.citations.map((one) => `[${one.marker}] ${one.title} · ${where(one)}`);
    await navigator.clipboard.writeText([answer.text, ...list].join("\n"));
    made.textContent = words.run.copied;
  });
  return made;
}

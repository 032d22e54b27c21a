// What can be done once more with a run: the same look-ups, or the whole question some times. And what it was worth.
import { byId, call, el, events, fill, postJson, Refused, words } from "./dom.js";
import { thumbs } from "./thumbs.js";

const runId = byId("again").dataset.run;
const result = byId("again-result");
const said = words.again;
let abort = null; // of what is under way

byId("replay")?.addEventListener("click", () => attempt(said.replaying, null, replay));
byId("rerun")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const times = byId("times").valueAsNumber;
  attempt(fill(said.rerunning, { done: 0, times }), times, (signal) => rerun(times, signal));
});
byId("again-stop").addEventListener("click", () => abort?.abort());

const worth = byId("worth");
const { thumb, comment, layer } = worth.dataset;
const { buttons, more } = thumbs(worth.dataset.run, { thumb: thumb || null, comment, layer });
worth.append(buttons, more);

async function attempt(text, max, act) {
  if (abort) return;
  abort = new AbortController();
  byId("again-problem").hidden = true;
  result.hidden = true;
  byId("again-said").textContent = text;
  byId("again-bar").removeAttribute("value");
  if (max) byId("again-bar").max = max;
  busy(true);
  try {
    result.replaceChildren(...(await act(abort.signal)));
    result.hidden = false;
    result.focus();
  } catch (error) {
    const known = error instanceof Refused ? error.message : error.name === "AbortError" ? said.stopped : words.run.lost;
    byId("again-problem").textContent = known;
    byId("again-problem").hidden = false;
    if (!(error instanceof Refused) && error.name !== "AbortError" && !(error instanceof TypeError)) throw error;
  } finally {
    abort = null;
    busy(false);
  }
}

function busy(on) {
  byId("again-progress").hidden = !on;
  for (const id of ["replay", "rerun-do"]) if (byId(id)) byId(id).disabled = on;
  if (on) byId("again-stop").focus();
}

async function replay(signal) {
  const found = await (await call(`/api/runs/${runId}/replay`, { method: "POST", signal, headers: { Accept: "application/json" } })).json();
  const why = found.reason && el("p", {}, said.reason[found.reason] ?? found.detail);
  return [
    el("h3", {}, said.replayed),
    el("p.row", {}, outcome(found.outcome), el("strong", {}, said.outcome_whole[found.outcome])),
    why,
    found.calls.length ? el("ol.plain.list", {}, ...found.calls.map(replayed)) : null,
  ].filter(Boolean);
}

function outcome(name) {
  const kind = { same: "good", different: "bad" }[name] ?? "warn";
  const mark = { same: "✓", different: "≠" }[name] ?? "–";
  return el(`span.badge.${kind}`, {}, `${mark} ${said.outcome[name]}`);
}

function replayed(one) {
  const { query, term } = asked(one.arguments);
  const what = query ?? term;
  const head = el("p.row", {}, outcome(one.outcome), el("strong", {}, words.run[one.tool] ?? one.tool), what ? el("q", {}, what) : el("code", {}, one.arguments));
  const why = one.reason && el("p.hint", {}, said.reason[one.reason] ?? one.detail);
  const blocks = one.then && one.now && el("p.hint", {}, fill(said.blocks, { then: one.then.blocks, now: one.now.blocks }));
  return el("li", {}, head, why, blocks, one.difference ? differences(one.difference) : null);
}

function asked(given) {
  try {
    return JSON.parse(given) ?? {};
  } catch {
    return {}; // whatever the model wrote
  }
}

function differences({ gained, lost, moved, changed, error_then: then, error_now: now, payload }) {
  const lines = [
    ...gained.map((one) => [said.gained, one.block_id, `${said.rank} ${one.rank}`]),
    ...lost.map((one) => [one.visible ? said.lost : said.lost_hidden, one.block_id, `${said.rank_then} ${one.rank}`]),
    ...moved.map((one) => [said.moved, one.block_id, `${said.rank} ${one.then} → ${one.now}`]),
    ...changed.map((one) => [said.changed, one.block_id, ""]),
  ];
  return el(
    "div.stack",
    {},
    then || now ? el("p", {}, fill(said.errors, { then: then ?? "–", now: now ?? "–" })) : null,
    lines.length ? el("ul.plain.changes", {}, ...lines.map(([what, block, rank]) => el("li", {}, el("strong", {}, what), " ", el("code", {}, block), " ", el("span.hint", {}, rank)))) : null,
    ...changed.map((one) => el("div.two", {}, text(said.then, one.then ?? said.not_kept), text(said.now, one.now))),
    payload.length ? el("details", {}, el("summary", {}, said.payload), el("pre.text", { tabIndex: 0 }, ...payload.map(line))) : null,
  );
}

const text = (label, shown) => el("div", {}, el("p.label", {}, label), el("p.passage-text", {}, shown));

function line(one) {
  const kind = one.startsWith("+") ? "ins" : one.startsWith("-") ? "del" : "span";
  return el(kind, {}, `${one}\n`);
}

async function rerun(times, signal) {
  const expected = byId("expected").value.trim();
  const body = { times, ...(expected ? { expected_quote: expected } : {}) };
  const reply = await postJson(`/api/runs/${runId}/rerun`, body, { signal, headers: { Accept: "text/event-stream" } });
  let done = 0;
  for await (const { name, data } of events(reply)) {
    if (name === "failed") throw new Refused({ code: data.code, title: data.message });
    if (name === "rerun") return rerunResult(data);
    done += 1;
    byId("again-bar").value = done;
    byId("again-said").textContent = fill(said.rerunning, { done, times });
  }
  throw new TypeError("the connection was lost");
}

function rerunResult(found) {
  if (!found.possible) return [el("h3", {}, said.reran), el("p.notice.warn", {}, said.reason[found.reason] ?? found.detail)];
  const total = found.runs.length;
  const all = found.passed === total;
  const failures = Object.entries(found.failures).map(([kind, n]) => el("li", {}, `${said.failure[kind]}${words.colon}${n}`));
  return [
    el("h3", {}, said.reran),
    el("p.rate", {}, el(`span.badge.${all ? "good" : "warn"}`, {}, fill(said.rate, { percent: Math.round(found.pass_rate * 100) })), " ", fill(said.passed, { passed: found.passed, total })),
    el("p.hint", {}, `${said.criterion[found.criterion]} ${fill(said.flips, { n: found.flips })}`),
    failures.length ? el("ul.notes", {}, ...failures) : null,
    el("ol.plain.list", {}, ...found.runs.map(once)),
    el("p.hint", {}, said.promise),
  ].filter(Boolean);
}

function once(one, at) {
  const seconds = fill(words.run.took, { s: (one.duration_ms / 1000).toFixed(1) });
  const verdict = el(`span.badge.${one.passed ? "good" : "bad"}`, {}, one.passed ? `✓ ${said.pass}` : `✕ ${said.failure[one.failure]}`);
  return el(
    "li.row",
    {},
    el("span.number", {}, String(at + 1)),
    verdict,
    el("span", {}, words.status[one.status]),
    el("span.hint", {}, `${seconds} · ${fill(said.tokens, { n: one.chat_tokens.toLocaleString(document.documentElement.lang) })}`),
    el("a", { href: `/traces/${one.run_id}` }, words.run.trace),
    el("a", { href: `/traces/compare?run=${runId}&run=${one.run_id}` }, said.compare_it),
  );
}

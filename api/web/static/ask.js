// Ask: sends a question, tells what happens to it, shows what came of it.
import { agreed } from "./confirm.js";
import { byId, call, el, events, fill, getJson, postJson, Refused, words } from "./dom.js";
import { choose, scope } from "./scope.js";
import * as source from "./source.js";
import { Turn } from "./turn.js";

const ASKING = "citebound-asking"; // of this window, while an answer is on its way
const question = byId("question");
const thread = byId("thread");
let conversation = new URLSearchParams(location.search).get("conversation") ?? "new";
let current = null; // {turn, abort, runId}

const say = (text) => (byId("status").textContent = text);

byId("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  if (current || !question.value.trim()) return;
  ask(question.value.trim());
  question.value = "";
});
question.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    byId("ask").requestSubmit();
  }
});
byId("stop").addEventListener("click", stop);
byId("new").addEventListener("click", () => {
  stop();
  afresh();
});
byId("delete").addEventListener("click", () => remove(conversation));
byId("earlier").addEventListener("toggle", earlier);

async function ask(text) {
  byId("greeting").hidden = true;
  byId("problem").hidden = true;
  const turn = new Turn(text, { open: source.open, again: () => current || ask(text), say });
  thread.append(turn.root);
  thread.classList.add("asked-here"); // leaves room below, so that the newest question can be at the top whatever its answer's length
  turn.root.scrollIntoView({ block: "start" });
  const abort = new AbortController();
  current = { turn, abort, runId: null };
  busy(true);
  sessionStorage.setItem(ASKING, text); // a page that is left or loaded anew meanwhile gives it back
  try {
    const body = {
      question: text,
      scope: scope(),
      conversation_id: conversation,
      citation_mode: byId("strict").checked ? "strict" : "flag",
    };
    const reply = await postJson("/api/runs", body, { headers: { Accept: "text/event-stream" }, signal: abort.signal });
    for await (const event of events(reply)) {
      if (event.name === "run.started") current.runId = event.data.run_id;
      turn.take(event);
      if (event.data.answer?.conversation_id) begin(event.data.answer.conversation_id);
    }
    if (!turn.over) turn.fail(words.run.lost);
  } catch (error) {
    if (error.name === "AbortError") turn.fail(words.run.stopped);
    else if (error instanceof Refused && error.code === "not_found" && conversation !== "new") {
      begin("new"); // it was deleted, e.g. in another window
      turn.fail(words.ask.gone);
    } else if (error instanceof Refused) turn.fail(error.message, error.detail);
    else turn.fail(words.run.lost);
  } finally {
    current = null;
    sessionStorage.removeItem(ASKING);
    busy(false);
  }
}

/** Told to the server, which ends the run in order; when that can't be told, closing the connection ends it too. */
async function stop() {
  if (!current) return;
  const { abort, runId } = current;
  say(words.run.stopping);
  byId("stop").disabled = true;
  if (!runId) return abort.abort();
  await call(`/api/runs/${runId}/cancel`, { method: "POST" }).catch(() => abort.abort());
}

function busy(on) {
  byId("stop").hidden = !on;
  byId("stop").disabled = false;
  byId("send").disabled = on;
  byId("delete").disabled = on;
  if (on) byId("stop").focus();
  else if (!matchMedia("(pointer: coarse)").matches) question.focus({ preventScroll: true }); // a phone's keyboard would cover the answer
}

function begin(id) {
  conversation = id;
  for (const name of ["new", "delete"]) byId(name).hidden = id === "new";
  history.replaceState(null, "", id === "new" ? "/" : `/?conversation=${encodeURIComponent(id)}`);
}

function afresh() {
  begin("new");
  thread.replaceChildren();
  thread.classList.remove("asked-here");
  byId("greeting").hidden = false;
  question.focus();
}

async function earlier() {
  if (!byId("earlier").open) return;
  const found = await getJson("/api/conversations?limit=20");
  const items = found.filter((one) => one.turns).map((one) => {
    const button = el("button.quiet.small.danger", { type: "button", "aria-label": `${words.ask.delete_one}: ${one.title}` }, words.ask.delete_one);
    button.addEventListener("click", () => remove(one.conversation_id, one.title));
    return el("li", {}, el("a", { href: `/?conversation=${one.conversation_id}` }, one.title), button);
  });
  byId("earlier-list").replaceChildren(...(items.length ? items : [el("li", {}, words.ask.earlier_none)]));
}

/** title: of one in the list; none for the one on the page. */
async function remove(id, title) {
  const ask = title ? fill(words.ask.ask_delete_one, { title: title.slice(0, 60) }) : words.ask.ask_delete;
  if (!(await agreed(`${ask}\n\n${words.ask.ask_delete_what}`, words.ask.yes_delete))) return;
  byId("problem").hidden = true;
  try {
    await call(`/api/conversations/${encodeURIComponent(id)}`, { method: "DELETE" });
    say(words.ask.deleted);
    if (id === conversation) afresh();
    await earlier();
  } catch (error) {
    trouble(error);
  }
}

function trouble(error) {
  if (!(error instanceof Refused)) throw error;
  byId("problem").textContent = error.message;
  byId("problem").hidden = false;
}

async function recall() {
  if (conversation === "new") return;
  try {
    const found = await getJson(`/api/conversations/${encodeURIComponent(conversation)}`);
    begin(conversation);
    for (const one of found.turns) {
      const turn = new Turn(one.question, { open: source.open, again: () => current || ask(one.question), say: () => {} });
      thread.append(turn.root);
      byId("greeting").hidden = true;
      const [answer, given] = await Promise.all([getJson(`/api/runs/${one.run_id}`), getJson(`/api/runs/${one.run_id}/feedback`)]);
      turn.complete(answer, "", given);
    }
  } catch (error) {
    trouble(error);
    if (error.code === "not_found") begin("new"); // it is gone, or somebody else's
  }
}

async function about(docId) {
  if (docId) choose(docId, (await getJson(`/api/documents/${encodeURIComponent(docId)}`)).title);
}

window.addEventListener("unhandledrejection", (event) => {
  if (!(event.reason instanceof Refused)) return;
  event.preventDefault();
  trouble(event.reason);
});
question.value ||= sessionStorage.getItem(ASKING) ?? "";
sessionStorage.removeItem(ASKING);
recall();
about(new URLSearchParams(location.search).get("document"));

// What a reader says of an answer: a thumb at once, then, if he likes, a note and where it went wrong. Kept by the server.
import { el, postJson, Refused, words } from "./dom.js";

const LAYERS = ["not_called", "not_recalled", "refused_by_budget", "ignored", "cited_wrongly", "other"];
let made = 0;

/** given: what was said before, null for a new answer. */
export function thumbs(runId, given) {
  made += 1;
  const ids = { note: `note-${made}`, layer: `layer-${made}` };
  const up = thumb("up", words.feedback.up);
  const down = thumb("down", words.feedback.down);
  const note = el("textarea", { id: ids.note, rows: 2, maxLength: 2000 });
  const layer = el("select", { id: ids.layer }, el("option", { value: "" }, words.feedback.unknown));
  for (const name of LAYERS) layer.append(el("option", { value: name }, words.layers[name]));
  const where = el("div.field", {}, el("label", { htmlFor: ids.layer }, words.feedback.layer), layer);
  const status = el("p.hint", { role: "status" });
  const close = el("button.quiet.small", { type: "button" }, words.close);
  const form = el(
    "form.worth.card",
    { hidden: true },
    where,
    el("div.field", {}, el("label", { htmlFor: ids.note }, words.feedback.note), note),
    el("div.row", {}, el("button.main.small", {}, words.feedback.send), close),
  );
  let said = given?.thumb ?? null;
  note.value = given?.comment ?? "";
  if (given?.layer) layer.value = given.layer;
  show();

  function show() {
    up.setAttribute("aria-pressed", String(said === "up"));
    down.setAttribute("aria-pressed", String(said === "down"));
    where.hidden = said !== "down";
    layer.firstElementChild.disabled = Boolean(given?.layer); // once named it can become another, not unknown again
  }

  async function say(wanted, extra, after) {
    try {
      const reply = await (await postJson(`/api/runs/${runId}/feedback`, { thumb: wanted, comment: note.value.trim(), ...extra })).json();
      said = wanted;
      given = { layer: reply.case?.layer };
      status.textContent = after;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      status.textContent = error.message;
    }
  }

  for (const [button, wanted] of [[up, "up"], [down, "down"]]) {
    button.addEventListener("click", async () => {
      const opens = form.hidden || said !== wanted;
      if (said !== wanted) await say(wanted, {}, words.feedback.noted);
      form.hidden = said !== wanted || !opens;
      show();
      if (!form.hidden) form.scrollIntoView({ block: "nearest" });
    });
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await say(said, said === "down" && layer.value ? { layer: layer.value } : {}, words.feedback.thanks);
    fold();
  });
  form.addEventListener("keydown", (event) => event.key === "Escape" && fold());
  close.addEventListener("click", fold);
  function fold() {
    form.hidden = true;
    show();
    (said === "up" ? up : down).focus();
  }

  return {
    buttons: el("span.thumbs", { role: "group", "aria-label": words.feedback.title }, up, down),
    more: el("div.feedback", {}, status, form),
  };
}

function thumb(kind, label) {
  return el(`button.quiet.small.thumb.${kind}`, { type: "button", title: label, "aria-label": label });
}

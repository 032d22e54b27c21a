// Prompts: begin an experiment, edit a draft's templates, freeze it, ask a question with it.
import { agreed } from "./confirm.js";
import { byId, call, el, fill, getJson, postJson, Refused, words } from "./dom.js";

const said = words.prompts;
const bundle = byId("bundle")?.dataset.bundle;
const address = bundle && `/api/prompts/${bundle.split("/").map(encodeURIComponent).join("/")}`;
const edits = new Map(); // form -> the text that the server has

byId("create")?.addEventListener("submit", (event) => {
  event.preventDefault();
  const { name, parent } = event.target.elements;
  const problem = event.target.querySelector("[data-problem]");
  problem.hidden = true;
  attempt(async () => {
    const made = await (await postJson("/api/prompts", { name: name.value.trim(), parent: parent.value })).json();
    location.assign(`/prompts/${made.info.name}`);
  }, problem);
});

for (const form of document.querySelectorAll("form.edit")) watch(form);
addEventListener("beforeunload", (event) => {
  if ([...edits.keys()].some(isChanged)) event.preventDefault();
});

byId("freeze")?.addEventListener("click", async () => {
  if ([...edits.keys()].some(isChanged)) return complain(said.save_first);
  if (!(await agreed(said.ask_freeze, said.yes_freeze))) return undefined;
  return attempt(async () => {
    await postJson(`${address}/freeze`, {});
    location.reload();
  });
});

byId("open-all")?.addEventListener("click", ({ currentTarget }) => {
  const open = currentTarget.getAttribute("aria-expanded") !== "true";
  for (const one of document.querySelectorAll("details.template")) one.open = open;
  currentTarget.setAttribute("aria-expanded", open);
  currentTarget.textContent = open ? said.close_all : said.open_all;
});

byId("copy")?.addEventListener("click", async () => {
  await navigator.clipboard?.writeText(byId("command").textContent);
});

byId("try")?.addEventListener("submit", (event) => {
  event.preventDefault();
  attempt(() => tryOut(byId("question").value.trim()));
});

const isChanged = (form) => form.querySelector("textarea").value !== edits.get(form);

function watch(form) {
  const area = form.querySelector("textarea");
  edits.set(form, area.value);
  area.addEventListener("input", () => mark(form));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    save(form, edits.get(form));
  });
  form.querySelector("[data-undo]").addEventListener("click", () => {
    area.value = edits.get(form);
    wrong(form, []);
    mark(form);
  });
}

function mark(form) {
  const changed = isChanged(form);
  for (const button of form.querySelectorAll("button:not([data-own])")) button.disabled = !changed;
  if (changed) form.querySelector("[data-saved]").textContent = "";
  const template = form.closest("details");
  template.querySelector("[data-unsaved]").hidden = ![...template.querySelectorAll("form.edit")].some(isChanged);
}

/** before: what the text is changed from; when the server has another by now, nothing is overwritten unasked. */
async function save(form, before) {
  const text = form.querySelector("textarea").value;
  const { template } = form.dataset;
  wrong(form, []);
  try {
    const reply = await call(address, {
      method: "PUT",
      body: JSON.stringify({ template, text, before }),
      headers: { "Content-Type": "application/json", Accept: "application/json" },
    });
    edits.set(form, text);
    mark(form);
    form.querySelector("[data-saved]").textContent = said.saved;
    show((await reply.json()).problems);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    if (error.code === "conflict") await explain(form);
    else if (error.code === "invalid_argument") faults(form, error.detail);
    else wrong(form, [el("p", {}, [error.message, error.detail].filter(Boolean).join(" "))]);
  }
}

function wrong(form, lines) {
  const box = form.querySelector("[data-wrong]");
  box.replaceChildren(...lines);
  box.hidden = !lines.length;
}

/** "zh/rules.j2:3: what; …": each with its line, which a click leads to. */
function faults(form, detail) {
  const found = detail.replace(/\.\.$/, ".").split("; ").map((one) => /^(\S+\.j2):(\d+): (.*)$/.exec(one.trim()) ?? [one, "", "", one]);
  wrong(form, [
    el("p", {}, el("strong", {}, said.not_saved)),
    ...found.map(([, path, line, what]) =>
      el("p", {}, line ? lineLink(form, path, Number(line)) : "", el("span", { lang: "en" }, what))),
    el("p.hint", {}, said.remedy),
  ]);
}

function lineLink(form, path, line) {
  const text = fill(said.at_line, { path, line });
  if (path !== form.dataset.template) return el("strong", {}, `${text} `);
  const button = el("button.small", { type: "button", "data-own": "" }, text);
  button.addEventListener("click", () => {
    const area = form.querySelector("textarea");
    const lines = area.value.split("\n");
    const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    area.focus();
    area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  });
  return button;
}

/** Somebody else was quicker: theirs can be looked at, mine is still in the box. */
async function explain(form) {
  const now = await getJson(address);
  if (now.info.state !== "draft") return wrong(form, [el("p", {}, said.frozen_meanwhile)]);
  const theirs = now.templates[form.dataset.template];
  const mine = el("button.small", { type: "button", "data-own": "" }, said.keep_mine);
  const take = el("button.small", { type: "button", "data-own": "" }, said.take_theirs);
  mine.addEventListener("click", () => save(form, theirs));
  take.addEventListener("click", () => {
    form.querySelector("textarea").value = theirs;
    edits.set(form, form.querySelector("textarea").value);
    wrong(form, []);
    mark(form);
  });
  return wrong(form, [
    el("p", {}, el("strong", {}, said.changed_meanwhile)),
    el("details", {}, el("summary", {}, said.see_theirs), el("pre", { tabIndex: 0 }, theirs)),
    el("div.row", {}, mine, take),
  ]);
}

function show(problems) {
  byId("problems").hidden = !problems.length;
  byId("problems").querySelector("ul").replaceChildren(...problems.map((one) => el("li", { lang: "en" }, one)));
  byId("freeze").disabled = problems.length > 0;
}

async function tryOut(question) {
  const box = byId("tried");
  const button = byId("try").querySelector("button");
  if ([...edits.keys()].some(isChanged)) return complain(said.save_first);
  button.disabled = true;
  box.hidden = false;
  box.replaceChildren(el("p.hint", {}, said.asking));
  try {
    const reply = await postJson("/api/runs", { question, prompt_bundle: bundle, trace_level: "full" });
    const { run_id: runId, status, text } = await reply.json();
    box.replaceChildren(
      el("p", {}, el("span.badge", {}, words.status[status] ?? status)),
      el("p.answer", {}, text),
      el("div.row", {}, el("a.button.small", { href: `/traces/${encodeURIComponent(runId)}` }, said.trace)),
    );
  } catch (error) {
    box.hidden = true;
    throw error;
  } finally {
    button.disabled = false;
  }
  return undefined;
}

async function attempt(act, place = byId("problem")) {
  place.hidden = true;
  try {
    await act();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    complain([error.message, error.detail].filter(Boolean).join(" "), place);
  }
}

function complain(text, place = byId("problem")) {
  place.textContent = text;
  place.hidden = false;
}

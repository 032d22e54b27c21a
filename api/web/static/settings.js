// Settings: choose a provider, try it, keep it, start again with it. A key leaves the form for our own server only, and is never shown again.
import { agreed } from "./confirm.js";
import { byId, call, el, fill, getJson, postJson, Refused, words } from "./dom.js";

const said = words.settings;
const presets = JSON.parse(byId("presets").textContent);
const language = document.documentElement.lang.startsWith("zh") ? "zh" : "en";
const page = byId("page");
const LOOKS = 240; // twice a second

for (const form of document.querySelectorAll("form.connection")) {
  const { part } = form.dataset;
  form.elements.provider.addEventListener("change", () => choose(form, presets[part]));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    busy(form, () => save(form, {}));
  });
  showKeyPage(form, presets[part]);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-do]");
  if (!button) return;
  const form = button.closest("form");
  if (button.dataset.do === "test") busy(form, () => test(form));
  if (button.dataset.do === "anyway") busy(form, () => save(form, { tested: true }));
  if (button.dataset.do === "disconnect") busy(form, () => disconnect(form));
  if (button.dataset.do === "restart") busy(byId("chat").querySelector("form"), restart);
  if (button.dataset.do === "reindex") busy(byId("embedding").querySelector("form"), reindex);
  if (button.dataset.do === "model") {
    form.elements.model.value = button.textContent;
    tell(form, "", [el("p", {}, fill(said.model_chosen, { model: button.textContent }))]);
    form.querySelector("[type=submit]").focus();
  }
});

function presetOf(form, known) {
  return known.find(({ id }) => id === form.elements.provider.value);
}

function choose(form, known) {
  const preset = presetOf(form, known);
  form.elements.address.value = preset?.base_url ?? "";
  form.elements.model.value = preset?.model ?? "";
  byId(`${form.dataset.part}-models`).replaceChildren();
  tell(form, "", []);
  showKeyPage(form, known);
  (preset ? (form.elements.key ?? form.elements.model) : form.elements.address).focus();
}

function showKeyPage(form, known) {
  const link = form.querySelector("[data-key-page]");
  if (!link) return;
  const address = presetOf(form, known)?.key_page;
  link.hidden = !address;
  if (address) link.href = address;
}

/** What the form says. An empty key keeps the stored one for the same server; a new server then gets none. */
function wanted(form) {
  const { address, model, dimensions, key } = form.elements;
  const body = { base_url: address.value.trim(), model: model.value.trim() || null };
  if (dimensions?.value) body.dimensions = Number(dimensions.value);
  if (key?.value.trim()) body.api_key = key.value.trim();
  else if (key && (form.dataset.key === "none" || serverOf(body.base_url) !== serverOf(form.dataset.address))) body.api_key = null;
  return body;
}

/** Who gets to see what is sent there. */
function serverOf(address) {
  return URL.canParse(address) ? new URL(address).origin : address;
}

async function busy(form, act) {
  const buttons = [...document.querySelectorAll("form.connection button, button[data-do]")].filter((one) => !one.disabled);
  for (const one of buttons) one.disabled = true;
  try {
    await act();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    tell(form, "bad", [el("p", {}, el("strong", {}, error.message)), el("p.detail", { lang: "en" }, error.detail)]);
  }
  for (const one of buttons) one.disabled = false;
}

function tell(form, kind, lines) {
  const box = form.querySelector(".outcome");
  box.className = kind ? `outcome ${kind}` : "outcome";
  box.replaceChildren(...lines);
  box.hidden = !lines.length;
}

/** Whether it works; the outcome stands under the form. */
async function test(form, { anyway = false } = {}) {
  if (!wanted(form).base_url) {
    tell(form, "bad", [el("p", {}, said.no_address)]);
    form.elements.address.focus();
    return false;
  }
  tell(form, "", [el("p", {}, said.testing)]);
  const [{ verdict, said: told }] = await (await postJson("/api/settings/check", { parts: [form.dataset.part], wanted: wanted(form) })).json();
  const { what, remedy } = told[language];
  const fine = verdict.code === "works";
  byId(`${form.dataset.part}-models`).replaceChildren(...verdict.models.map((value) => el("option", { value })));
  tell(form, fine ? "good" : "bad", [
    el("p", {}, el("strong", {}, `${fine ? "✓" : "✗"} ${what}`)),
    remedy ? el("p", {}, remedy) : "",
    verdict.models.length ? el("div.models", {}, ...verdict.models.map((name) => el("button.small", { type: "button", "data-do": "model" }, name))) : "",
    fine || verdict.code === "no_model" || !verdict.detail ? "" : el("details", {}, el("summary.hint", {}, said.exactly), el("p.detail", { lang: "en" }, verdict.detail)),
    anyway && !fine && verdict.code !== "no_model" ? el("div.row", {}, el("button.small", { type: "button", "data-do": "anyway" }, said.save_anyway)) : "",
  ].filter(Boolean));
  return fine;
}

async function save(form, { tested = false }) {
  if (!tested && !(await test(form, { anyway: true }))) return;
  await keep(form, wanted(form));
}

async function disconnect(form) {
  if (await agreed(said.ask_disconnect[form.dataset.part], said.yes_disconnect)) await keep(form, { base_url: null });
}

async function keep(form, body) {
  await call(`/api/settings/${form.dataset.part}`, {
    method: "PUT",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", Accept: "application/json" },
  });
  if (form.elements.key) form.elements.key.value = "";
  const ask = form.dataset.part === "embedding" ? `${said.ask_restart}\n${said.ask_restart_embedding}` : said.ask_restart;
  if (page.dataset.canRestart && (await agreed(ask, said.restart, said.later))) await restart();
  else location.reload(); // what waits for the next start is said there
}

async function restart() {
  await postJson("/api/settings/restart", {});
  const veil = el("p.notice.floating", { role: "status" }, said.restarting);
  document.body.append(veil);
  for (let look = 0; look < LOOKS; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const there = await getJson("/api/settings").catch(() => null);
    if (there && String(there.started_at_ms) !== page.dataset.started) {
      location.reload();
      return;
    }
  }
  veil.textContent = said.restart_failed;
}

async function reindex() {
  if (!(await agreed(said.ask_reindex, said.reindex))) return;
  await postJson("/api/imports", { mode: "reindex" });
  location.assign("/library#imports");
}

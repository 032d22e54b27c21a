// Library: files in, what becomes of them, and the acts on imports and snapshots. What is shown is rendered by the server: after each
// change its part of the page is asked for again.
import { agreed } from "./confirm.js";
import { byId, call, events, fill, Refused, words } from "./dom.js";
import { localTimes } from "./frame.js";
import { send } from "./upload.js";

const PAUSE_MS = 700; // between two looks at an import that goes on
const AGAIN_MS = 1500; // until a server that was lost is asked for again
const PARTS = ["answering", "imports", "documents", "snapshots"];
const watched = new Set();

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-act]");
  if (!button || (button.dataset.ask && !(await agreed(button.dataset.ask, button.dataset.yes)))) return;
  button.disabled = true;
  await attempt(async () => {
    await call(button.dataset.act, { method: button.dataset.method ?? "POST" });
    await refresh();
  });
  if (button.isConnected) button.disabled = false;
});

byId("samples")?.addEventListener("click", (event) => {
  event.currentTarget.disabled = true;
  attempt(async () => {
    await call("/samples", { method: "POST" });
    await refreshImports();
  });
});

// what other windows did meanwhile
document.addEventListener("visibilitychange", () => document.hidden || attempt(byId("ready") ? refreshImports : refresh));

if (byId("upload")) prepareUpload();
watch();

async function attempt(act) {
  byId("problem").hidden = true;
  try {
    await act();
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    byId("problem").textContent = [error.message, error.detail].filter(Boolean).join(" ");
    byId("problem").hidden = false;
  }
}

function prepareUpload() {
  const form = byId("upload");
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const id of ["files", "folder"]) {
    byId(id).addEventListener("change", () => {
      take([...byId(id).files].map((file) => ({ file, name: file.webkitRelativePath || file.name })));
      byId(id).value = "";
    });
  }
  for (const name of ["dragenter", "dragover"]) {
    form.addEventListener(name, (event) => {
      event.preventDefault();
      form.classList.add("over");
    });
  }
  form.addEventListener("dragleave", (event) => form.contains(event.relatedTarget) || form.classList.remove("over"));
  form.addEventListener("drop", async (event) => {
    event.preventDefault();
    form.classList.remove("over");
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry()).filter(Boolean);
    take((await Promise.all(entries.map(walk))).flat());
  });
}

/** The files of a dropped folder, with their paths inside it. */
async function walk(entry) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{ file, name: entry.fullPath.replace(/^\//, "") }];
  }
  const reader = entry.createReader();
  const inside = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) break; // a browser hands out a hundred at a time
    inside.push(...some);
  }
  return (await Promise.all(inside.map(walk))).flat();
}

async function take(found) {
  const form = byId("upload");
  const status = byId("upload-status");
  if (!found.length) return (status.textContent = words.library.no_files);
  const maxBytes = Number(form.dataset.maxBytes);
  const small = found.filter(({ file }) => file.size < maxBytes);
  const tooLarge = found.filter(({ file }) => file.size >= maxBytes);
  status.textContent = tooLarge.map(({ name }) => fill(words.library.refused_file, { name })).join(" ");
  if (!small.length) return;
  byId("sending").hidden = false;
  byId("sending-text").textContent = fill(words.library.sending, { n: small.length });
  await attempt(async () => {
    await send(small, {
      maxBytes,
      maxFiles: Number(form.dataset.maxFiles),
      label: byId("label").value.trim(),
      trust: byId("trust").value,
      progress: (part) => (byId("sent").value = part),
    });
    status.textContent = `${words.library.sent} ${status.textContent}`;
    await refreshImports();
  });
  byId("sending").hidden = true;
}

/** The page as the server has it now, parsed without running anything of it. */
function page(address) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", address);
    request.responseType = "document";
    request.onload = () => {
      if (request.status === 401) location.reload(); // the form to sign in is at this very address
      if (request.status === 200) resolve(request.response);
      else reject(new Refused({ code: "internal_error" }));
    };
    request.onerror = () => reject(new Refused({ code: "network" }));
    request.send();
  });
}

async function refresh() {
  const fresh = await page(location.pathname + location.search);
  for (const id of PARTS) if (byId(id) && fresh.getElementById(id)) swap(byId(id), fresh.getElementById(id));
  watch();
}

async function refreshImports() {
  const fresh = await page("/library/imports");
  if (!fresh.getElementById("import-list")) return;
  swap(byId("import-list"), fresh.getElementById("import-list"));
  byId("imports").hidden = false;
  watch();
}

/** Put the new part in the old one's place; what was open stays open, what had the focus keeps it. */
function swap(old, fresh) {
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  const opened = [...old.querySelectorAll("details[open]")].map((one) => one.id);
  const made = document.importNode(fresh, true);
  localTimes(made);
  old.replaceWith(made);
  for (const id of opened) if (id && byId(id)) byId(id).open = true;
  if (focused) (byId(focused) ?? made.querySelector("button, a"))?.focus();
}

function watch() {
  for (const one of document.querySelectorAll("[data-import][data-live]")) follow(one.dataset.import);
}

function follow(importId) {
  return attempt(() => lookOn(importId));
}

/** To its end; a server that goes away meanwhile is waited for. */
async function lookOn(importId) {
  if (watched.has(importId) || watched.size >= 3) return; // a browser keeps six connections to one server
  watched.add(importId);
  let end = null;
  try {
    while (!(end = await listen(importId))) await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  } finally {
    watched.delete(importId);
  }
  if (byId("upload-status") && !watched.size) byId("upload-status").textContent = "";
  if (byId("ready")) {
    await refreshImports();
    byId("ready").hidden = !end.snapshot_id || end.state !== "completed";
  } else await refresh();
}

/** The import as it ended, or null when the server was lost before. */
async function listen(importId) {
  let looked = 0;
  try {
    for await (const { name, data } of events(await call(`/api/imports/${importId}/events`))) {
      if (byId("problem").textContent === words.problems.network) byId("problem").hidden = true;
      if (name === "finished") return data;
      if (performance.now() - looked < PAUSE_MS) continue;
      looked = performance.now();
      await refreshImports();
    }
  } catch (error) {
    if (error instanceof Refused ? error.code !== "network" : !(error instanceof TypeError)) throw error; // TypeError: the stream broke
  }
  byId("problem").textContent = words.problems.network;
  byId("problem").hidden = false;
  return null;
}

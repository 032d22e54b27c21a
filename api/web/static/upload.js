// Files to the server: as many requests as their sizes take, one after another.

/** found: [{file, name}]; progress(0..1). Raises Refused. */
import { Refused } from "./dom.js";

export async function send(found, { maxBytes, maxFiles, label, trust, progress }) {
  const total = found.reduce((sum, { file }) => sum + file.size, 0) || 1;
  let done = 0;
  for (const batch of batches(found, maxBytes, maxFiles)) {
    const form = new FormData();
    const folder = commonFolder(batch);
    if (label || folder) form.append("label", label || folder);
    if (trust) form.append("trust", trust);
    for (const { file, name } of batch) form.append("files", file, folder ? name.slice(folder.length + 1) : name);
    await post(form, (sent) => progress(Math.min(1, (done + sent) / total)));
    done += batch.reduce((sum, { file }) => sum + file.size, 0);
  }
}

function* batches(found, maxBytes, maxFiles) {
  let batch = [];
  let size = 0;
  for (const one of found) {
    const cost = one.file.size + 1024; // its head in the form
    if (batch.length && (size + cost > maxBytes || batch.length >= maxFiles)) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(one);
    size += cost;
  }
  if (batch.length) yield batch;
}

/** The one folder that all of them lie in; it names their source. */
function commonFolder(batch) {
  const tops = new Set(batch.map(({ name }) => (name.includes("/") ? name.slice(0, name.indexOf("/")) : "")));
  return tops.size === 1 ? [...tops][0] : "";
}

function post(form, sent) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest(); // fetch doesn't tell how far an upload is
    request.open("POST", "/api/imports");
    request.responseType = "json";
    request.upload.onprogress = (event) => sent(event.loaded);
    request.onload = () => (request.status < 300 ? resolve(request.response) : reject(new Refused(request.response ?? { code: "internal_error" })));
    request.onerror = () => reject(new Refused({ code: "network" }));
    request.send(form);
  });
}

// A saved run: sent as soon as it is chosen or dropped, unless it is too large.
import { byId } from "./dom.js";

const form = byId("open");
const file = byId("file");
const said = byId("open-said");
byId("open-do").hidden = true;

file.addEventListener("change", send);
for (const name of ["dragenter", "dragover"]) {
  form.addEventListener(name, (event) => {
    event.preventDefault();
    form.classList.add("over");
  });
}
form.addEventListener("dragleave", (event) => form.contains(event.relatedTarget) || form.classList.remove("over"));
form.addEventListener("drop", (event) => {
  event.preventDefault();
  form.classList.remove("over");
  if (!event.dataTransfer.files.length) return;
  file.files = event.dataTransfer.files;
  send();
});

function send() {
  const [chosen] = file.files;
  if (!chosen) return;
  const tooLarge = chosen.size > Number(form.dataset.maxBytes);
  said.textContent = tooLarge ? said.dataset.tooLarge : said.dataset.opening;
  if (tooLarge) file.value = "";
  else form.requestSubmit();
}

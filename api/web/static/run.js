// A run's page: copies what identifies it, and asks its question once more where contents were not kept. It shows everything without this.

import { Refused, byId, postJson, words } from "./dom.js";

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = words.trace.copied;
    setTimeout(() => (button.textContent = words.trace.copy_it), 2000);
  });
}

const again = byId("ask-full");
if (again) {
  again.hidden = false;
  again.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = again.querySelector("button");
    const hint = again.querySelector(".hint");
    const [problem, before] = [byId("problem"), hint.textContent];
    problem.hidden = button.disabled = true;
    hint.textContent = words.trace.asking;
    try {
      const reply = await postJson("/api/runs", JSON.parse(again.dataset.body));
      location.assign(`/traces/${encodeURIComponent((await reply.json()).run_id)}`);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      problem.textContent = [error.message, error.detail].filter(Boolean).join(" ");
      problem.hidden = button.disabled = false;
      hint.textContent = before;
    }
  });
}

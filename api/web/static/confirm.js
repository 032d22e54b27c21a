// Whether the person means it. The page holds the dialog (macro `confirm`).
import { byId } from "./dom.js";

/** ask: what will happen. yes: what the button that does it says; no: the other one's words, where they are not the usual ones. */
export function agreed(ask, yes, no) {
  const dialog = byId("confirm");
  byId("confirm-text").textContent = ask;
  byId("confirm-yes").textContent = yes;
  if (no) byId("confirm-no").textContent = no;
  dialog.returnValue = "no";
  dialog.showModal();
  byId("confirm-no").focus();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true }));
}

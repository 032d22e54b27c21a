// What every page has: the appearance that was chosen, times in the reader's own zone.
const YEAR_S = 365 * 86400;

document.getElementById("theme").addEventListener("change", (event) => {
  const theme = event.target.value;
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  document.cookie = `citebound_theme=${theme}; path=/; max-age=${YEAR_S}; samesite=strict`;
});

export function localTimes(root) {
  const format = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  for (const time of root.querySelectorAll("time[datetime]")) time.textContent = format.format(new Date(time.dateTime));
}

localTimes(document);
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center", behavior: "instant" }); // on a phone not all fit

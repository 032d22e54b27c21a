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

// On a phone not all tabs fit. By hand: after scrollIntoView the Tab key would go on from there and pass the link that skips to the content.
const here = document.querySelector(".tabs [aria-current]")?.getBoundingClientRect();
const bar = document.querySelector(".top nav");
if (here) bar.scrollLeft += here.left + here.width / 2 - bar.getBoundingClientRect().left - bar.clientWidth / 2;

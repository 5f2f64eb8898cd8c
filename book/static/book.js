(() => {
  const root = document.documentElement;

  // Paper is white: print in the light theme, whatever the screen shows.
  let theme;
  window.addEventListener("beforeprint", () => { theme = root.dataset.theme; root.dataset.theme = "light"; });
  window.addEventListener("afterprint", () => { if (theme) root.dataset.theme = theme; });

  // Two buttons of the theme are named otherwise than they read: voice control could not press them.
  const rename = () => {
    for (const button of document.querySelectorAll(".search-button-field")) button.removeAttribute("aria-label");
    for (const icon of document.querySelectorAll(".theme-switch")) {
      icon.removeAttribute("title");
      icon.removeAttribute("aria-labelledby");
      icon.setAttribute("aria-hidden", "true");
      icon.querySelector("title")?.remove();
    }
  };
  document.addEventListener("DOMContentLoaded", rename);
  window.addEventListener("load", rename);

  // A picture or a table that is wider than its place scrolls sideways: it says so, and the keyboard reaches it.
  const pictures = () => document.querySelectorAll("figure.dp-figure:has(> img), .dp-explorer .dp-frame, .pst-scrollable-table-container, .ledger, .ledger-scroll");
  const mark = (place) => {
    const wide = place.scrollWidth > place.clientWidth + 1;
    place.toggleAttribute("data-wide", wide);
    if (wide) place.tabIndex = 0;
    else place.removeAttribute("tabindex");
  };
  const watch = () => {
    const observer = new ResizeObserver((entries) => entries.forEach((entry) => mark(entry.target)));
    for (const place of pictures()) observer.observe(place);
  };
  document.addEventListener("DOMContentLoaded", watch);
  // Once more when the pictures are there.
  window.addEventListener("load", () => pictures().forEach(mark));
})();

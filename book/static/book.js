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

  // A picture, a table or a formula that is wider than its place scrolls sideways: it says so, and
  // the keyboard reaches it. Formulas are no Tab stops otherwise (_config.yml).
  const FRAMES = "figure.dp-figure:has(> img), .pst-scrollable-table-container, .ledger, .ledger-scroll";
  const FORMULAS = ":is(div.math:not(:has(> .eqno)), span.math, :is(div.math:has(> .eqno), .erratum dd, .dpd-verdict) mjx-container):has(mjx-math)";
  const SLACK = 2;  /* pixels */
  // A formula in the line carries its MathML, out of sight, which can be wider than the formula.
  const width = (place) => (place.matches("span, mjx-container:not([display])") ? place.querySelector("mjx-math")?.offsetWidth ?? 0 : place.scrollWidth);
  const mark = (places) => {
    const measured = places.map((place) => [place, width(place) - place.clientWidth, place.scrollLeft]);
    for (const [place, excess, passed] of measured) {
      const wide = excess > SLACK;
      if (wide) place.tabIndex = 0;
      else if (place.hasAttribute("data-wide")) place.removeAttribute("tabindex");
      place.toggleAttribute("data-wide", wide);
      place.toggleAttribute("data-more", excess - passed > SLACK);
    }
  };
  const observer = new ResizeObserver((entries) => mark(entries.map((entry) => entry.target)));
  const watch = (selector) => {
    for (const place of document.querySelectorAll(selector)) observer.observe(place);
  };
  document.addEventListener("DOMContentLoaded", () => watch(FRAMES));
  window.addEventListener("load", () => {
    mark([...document.querySelectorAll(FRAMES)]);  /* once more when pictures are there */
    window.MathJax?.startup?.promise?.then(() => watch(FORMULAS));
  });
  document.addEventListener("scroll", ({ target }) => { if (target.matches?.("[data-wide]")) mark([target]); }, { capture: true, passive: true });
})();

// A chapter for the projector: with ?slides in its address it shows its question, its first three
// figures, explorers alive, and what to remember, one a screen. Arrow keys and Page Down go on, Escape ends.
(() => {
  if (!new URLSearchParams(location.search).has("slides")) return;
  document.addEventListener("DOMContentLoaded", () => {
    const article = document.querySelector("article.bd-article");
    const figures = [...article.querySelectorAll("figure")].filter((figure) => !figure.closest("details"));
    const lines = article.querySelector("#what-to-remember");
    if (!figures.length || !lines) return;
    const title = (element) => element.closest("section")?.querySelector("h1, h2")?.cloneNode(true) ?? "";
    const question = document.createElement("p");
    question.append(article.querySelector("section > p > strong"));
    const slide = (...parts) => {
      const made = document.createElement("section");
      made.className = "dp-slide";
      made.append(...parts);
      return made;
    };
    const slides = figures.slice(0, 3).map((figure, k) => slide(title(figure), ...(k ? [] : [question]), figure));
    const shown = document.createElement("main");
    shown.className = "dp-slides bd-article";
    slides.push(slide(...lines.children));
    slides.forEach((made, k) => { made.dataset.place = `${k + 1} / ${slides.length}`; });
    shown.append(...slides);
    document.body.append(shown);
    document.documentElement.classList.add("dp-projector");
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape") location.search = "";
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step || event.target.matches("input")) return;
      event.preventDefault();
      const at = Math.round(scrollY / innerHeight) + step;
      shown.children[Math.max(0, Math.min(at, shown.children.length - 1))].scrollIntoView();
    });
  });
})();

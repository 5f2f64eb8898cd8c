/* The filters of ledger and errata, and the graph's zoom. No dependency, no network; without it the full table and
   the plain picture with its links remain. */
(() => {
  "use strict";

  /* --- table ---------------------------------------------------------------------------------- */

  /* Hide what the form does not ask for; `said` tells how much is left. */
  function filter(form, rows, said) {
    const fields = [...form.querySelectorAll("[data-filter]")];
    const status = form.querySelector(".ledger-status");
    /* Accents and capitals do not matter; taken once, before formulas are set. */
    const fold = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
    const texts = new Map(rows.map((row) => [row, fold(`${row.dataset.text} ${row.querySelector(".ledger-detail")?.textContent || ""}`)]));

    function apply() {
      const wanted = fields.map((field) => [field.dataset.filter, field.value.trim().toLowerCase()]);
      let shown = 0;
      for (const row of rows) {
        row.hidden = !wanted.every(([name, value]) =>
          name === "text"
            ? fold(value).split(/\s+/).every((word) => texts.get(row).includes(word))
            : !value || row.dataset[name].split("|").includes(value) || (value === "papers" && !row.dataset.own));
        shown += !row.hidden;
      }
      status.textContent = `${shown} of ${rows.length} ${said}`;
    }

    function choose(values) {
      for (const field of fields) field.value = values[field.dataset.filter] || "";
      apply();
    }

    form.hidden = false;
    form.addEventListener("input", apply);
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(apply));
    /* After "back" a browser fills the form again, and tells only here. */
    window.addEventListener("pageshow", () => form.dispatchEvent(new Event("input")));
    apply();
    return choose;
  }

  function table(ledger) {
    const counts = ledger.querySelector(".ledger-counts");
    const rows = [...ledger.querySelectorAll(".ledger-table tbody")];
    const choose = filter(ledger.querySelector(".ledger-filters"), rows, "claims");

    function reveal() {  /* a link into the table shows and opens its row, whatever the filters say */
      const row = rows.find((row) => row.id === decodeURIComponent(location.hash.slice(1)));
      if (!row) return;
      if (row.hidden) choose({});
      row.querySelector("details").open = true;
      row.scrollIntoView();
    }

    counts.classList.add("ledger-live");
    counts.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) choose(button.dataset);
    });
    ledger.addEventListener("toggle", (event) => { if (event.target.open) typeset(event.target); }, true);
    window.addEventListener("hashchange", reveal);
    window.addEventListener("beforeprint", () => typeset(ledger));
    reveal();
  }

  function errata(all) {
    const entries = [...all.querySelectorAll(".erratum")];
    const form = all.querySelector(".ledger-filters");
    const choose = filter(form, entries, "errata");
    const papers = () => {  /* counts what is shown; a paper of which nothing is has no name */
      for (const paper of all.querySelectorAll(".errata")) {
        const counts = new Map();
        for (const { dataset: { grade } } of paper.querySelectorAll(".erratum:not([hidden])")) {
          counts.set(grade, (counts.get(grade) || 0) + 1);
        }
        paper.hidden = !counts.size;
        const words = [...counts].map(([grade, number]) => `${number} ${grade}`);
        paper.querySelector(".errata-counts").textContent = `By grade: ${words.join(", ")}.`;
      }
    };
    form.addEventListener("input", papers);
    form.addEventListener("reset", () => setTimeout(papers));

    function reveal() {
      const entry = document.getElementById(decodeURIComponent(location.hash.slice(1)));
      if (!entry || !entry.classList.contains("erratum")) return;
      choose({});
      papers();
      entry.open = true;
      entry.scrollIntoView();
    }

    window.addEventListener("hashchange", reveal);
    window.addEventListener("beforeprint", () => entries.forEach((entry) => { entry.open = true; }));
    reveal();
  }

  /* Formulas of a row are set when it is first opened: the whole table holds thousands. */
  function typeset(element) {
    const formulas = [...element.querySelectorAll(".ledger-tex")];
    if (!formulas.length || !window.MathJax || !MathJax.startup) return;
    for (const formula of formulas) formula.classList.replace("ledger-tex", "tex2jax_process");
    MathJax.startup.promise.then(() => MathJax.typesetPromise(formulas));
  }

  /* --- graph ---------------------------------------------------------------------------------- */

  function graph(root) {
    const canvas = root.querySelector(".claim-canvas");
    const svg = canvas.querySelector("svg");
    const papers = [...svg.querySelectorAll(".claim-paper")];
    const views = [...root.querySelectorAll("[data-view]")];
    const all = svg.getAttribute("viewBox").split(" ").map(Number);
    const edges = [...svg.querySelectorAll(".claim-edge")];
    const nodes = new Map([...svg.querySelectorAll(".claim-node")].map((n) => [n.dataset.claim, n]));
    const readable = 0.76;  /* pixels per unit of the picture, at which a claim's name has 11 pixels */
    let key = root.dataset.first, home = all, box = all;

    function show(next) {
      box = next;
      svg.setAttribute("viewBox", box.map((v) => v.toFixed(2)).join(" "));
    }

    /* One paper, or all ("") on a tall page: the picture starts at its left where a narrow page would make it too
       small to read. */
    function view(chosenKey) {
      key = chosenKey;
      for (const button of views) button.setAttribute("aria-pressed", button.dataset.view === key);
      for (const paper of papers) paper.style.display = !key || paper.dataset.paper === key ? "" : "none";
      const chosen = papers.find((paper) => paper.dataset.paper === key);
      home = chosen ? chosen.dataset.box.split(" ").map(Number) : all;
      home = [home[0] - 12, home[1] - 4, home[2] + 24, home[3] + 16];
      const [x, y, width, height] = home;
      const wide = canvas.clientWidth, high = key ? Math.min(0.74 * innerHeight, 832) : Infinity;
      const scale = Math.max(Math.min(wide / width, high / height, 1.25), readable);
      root.classList.toggle("claim-whole", !key);
      const frame = Math.min(high, height * scale);
      svg.style.height = `${frame}px`;
      show([x - Math.max(wide / scale - width, 0) / 2, y, wide / scale, frame / scale]);
    }

    function zoom(factor, at) {
      const scale = Math.min(Math.max(factor * box[2], 200), 3 * all[2]) / box[2];
      const [x, y] = at || [box[0] + box[2] / 2, box[1] + box[3] / 2];
      show([x + (box[0] - x) * scale, y + (box[1] - y) * scale, box[2] * scale, box[3] * scale]);
    }

    const perPixel = () => {
      const size = svg.getBoundingClientRect();
      return Math.max(box[2] / size.width, box[3] / size.height);
    };

    function pan(dx, dy) { show([box[0] + dx, box[1] + dy, box[2], box[3]]); }

    function point(event) {
      const p = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      return [p.x, p.y];
    }

    /* mouse and touch: drag to move; two fingers zoom */
    const down = new Map();
    let moved = 0;
    svg.addEventListener("pointerdown", (event) => {
      down.set(event.pointerId, [event.clientX, event.clientY]);
      moved = 0;
    });
    svg.addEventListener("pointermove", (event) => {
      const before = down.get(event.pointerId);
      if (!before) return;
      const dx = event.clientX - before[0], dy = event.clientY - before[1];
      moved += Math.abs(dx) + Math.abs(dy);
      if (moved < 5) return;
      svg.setPointerCapture(event.pointerId);
      svg.classList.add("claim-drag");
      if (down.size === 1) {
        pan(-dx * perPixel(), -dy * perPixel());
      } else {
        const other = [...down].find(([id]) => id !== event.pointerId)[1];
        const gap = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
        zoom(gap(before) / Math.max(gap([event.clientX, event.clientY]), 1));
      }
      down.set(event.pointerId, [event.clientX, event.clientY]);
    });
    for (const end of ["pointerup", "pointercancel"]) {
      svg.addEventListener(end, (event) => {
        down.delete(event.pointerId);
        svg.classList.remove("claim-drag");
        setTimeout(() => { moved = 0; });  /* after the click that ends a drag */
      });
    }
    svg.addEventListener("click", (event) => {  /* the end of a drag follows no link */
      if (moved >= 5) event.preventDefault();
      else if (!event.target.closest("a")) canvas.focus({ preventScroll: true });
    }, true);
    svg.addEventListener("dragstart", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !canvas.contains(document.activeElement)) return;
      event.preventDefault();
      zoom(Math.exp(Math.sign(event.deltaY) * 0.18), point(event));
    }, { passive: false });

    /* keyboard */
    const keys = {
      ArrowLeft: () => pan(-0.1 * box[2], 0), ArrowRight: () => pan(0.1 * box[2], 0),
      ArrowUp: () => pan(0, -0.1 * box[3]), ArrowDown: () => pan(0, 0.1 * box[3]),
      "+": () => zoom(1 / 1.25), "=": () => zoom(1 / 1.25), "-": () => zoom(1.25), "0": () => show(home),
    };
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });

    /* what a claim rests on, and what rests on it */
    function light(claim) {
      for (const element of [...nodes.values(), ...edges]) element.classList.remove("claim-near");
      svg.classList.toggle("claim-dim", Boolean(claim));
      if (!claim) return;
      for (const [near, far] of [["from", "to"], ["to", "from"]]) {
        const reached = new Set([claim]);
        for (const found of reached) {
          nodes.get(found).classList.add("claim-near");
          for (const edge of edges) {
            if (edge.dataset[near] !== found) continue;
            edge.classList.add("claim-near");
            reached.add(edge.dataset[far]);
          }
        }
      }
    }

    function into(node) {  /* keep the focused claim in the picture */
      const r = node.getBoundingClientRect(), c = canvas.getBoundingClientRect();
      const over = (low, high, min, max) => Math.min(low - min - 20, 0) + Math.max(high - max + 20, 0);
      pan(over(r.left, r.right, c.left, c.right) * perPixel(), over(r.top, r.bottom, c.top, c.bottom) * perPixel());
      canvas.scrollTo(0, 0);
    }

    for (const [claim, node] of nodes) {
      node.addEventListener("pointerenter", () => { if (!down.size) light(claim); });
      node.addEventListener("pointerleave", () => light(null));
      node.addEventListener("focus", () => { if (node.matches(":focus-visible")) { light(claim); into(node); } });
      node.addEventListener("blur", () => light(null));
    }

    const tools = root.querySelector(".claim-tools");
    tools.hidden = false;
    tools.addEventListener("click", (event) => {
      const { view: chosen, zoom: how } = event.target.closest("button")?.dataset || {};
      if (chosen !== undefined) view(chosen);
      if (how === "in") zoom(1 / 1.25);
      if (how === "out") zoom(1.25);
      if (how === "fit") show(home);
    });
    root.classList.add("claim-live");
    view(key);
    let width = innerWidth;  /* a phone changes the height alone when its address bar goes */
    window.addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; view(key); } });
    window.addEventListener("beforeprint", () => show(home));
  }

  function begin() {
    document.querySelectorAll(".ledger:has(.ledger-table)").forEach(table);
    document.querySelectorAll(".errata-all").forEach(errata);
    document.querySelectorAll(".claim-graph").forEach(graph);
  }
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();

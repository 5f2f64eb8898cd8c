// Moves every explorer of the page that is not yet ready. Shipped inside each explorer's own HTML, so
// it needs no file, no network and no kernel; running it twice does no harm.
(() => {
  const NUMBER = /-?\d[\d.]*/g, FAR = 5000;
  // The monotone cubic through up to four points (Fritsch and Carlson), for many curves at once: values
  // at x, between xs[k] and xs[k + 1]. What is out of the picture at one end stays with the nearer end.
  const slope = (h, m, g, n) => {
    const end = ((2 * h + g) * m - h * n) / (h + g);
    return end * m <= 0 ? 0 : m * n <= 0 && Math.abs(end) > 3 * Math.abs(m) ? 3 * m : end;
  };
  const inner = (h, m, g, n) => (m * n <= 0 ? 0 : (3 * (h + g)) / ((2 * g + h) / m + (g + 2 * h) / n));
  const between = (xs, rows, k, x) => {
    const gap = xs[k + 1] - xs[k], t = (x - xs[k]) / gap;
    return rows[k].map((from, c) => {
      const to = rows[k + 1][c], rise = (to - from) / gap, seen = (i) => Math.abs(rows[i]?.[c] ?? FAR) < FAR;
      if (rise === 0) return from;
      if (!seen(k) || !seen(k + 1)) return t < 0.5 ? from : to;
      const before = seen(k - 1) && [xs[k] - xs[k - 1], (from - rows[k - 1][c]) / (xs[k] - xs[k - 1])];
      const after = seen(k + 2) && [xs[k + 2] - xs[k + 1], (rows[k + 2][c] - to) / (xs[k + 2] - xs[k + 1])];
      const a = gap * (before ? inner(...before, gap, rise) : after ? slope(gap, rise, ...after) : rise);
      const b = gap * (after ? inner(gap, rise, ...after) : before ? slope(gap, rise, ...before) : rise);
      return from + t * (a + t * (3 * (to - from) - 2 * a - b + t * (2 * (from - to) + a + b)));
    });
  };
  // What two nodes must share for their attributes to be set, or interpolated, one by one.
  const kind = (node) => (node.kind ??= [node.tagName, node.attributes.length - (node.id !== ""), node.getAttribute("style"),
    ...Array.from(node.children, (child) => child.tagName + child.getAttribute("href"))].join());
  // Curves, bands and points: between two stops either all of them move, or none does.
  const drawn = (node) => node.matches("path, use[x]") || node.querySelector("path, use[x]") !== null;
  const numbers = (node, name) => ((node.numbers ??= {})[name] ??= (node.getAttribute(name).match(NUMBER) ?? []).map(Number));

  for (const root of document.querySelectorAll(".dp-explorer:not([data-ready])")) {
    const data = JSON.parse(root.querySelector(".dp-data").textContent);
    const sizes = data.values.map((v) => v.length);
    const scales = data.numbers.map((v, k) => v && (data.logs[k] ? v.map(Math.log) : v));
    const sliders = [...root.querySelectorAll("input[type=range]")];
    const frame = root.querySelector(".dp-frame"), svg = frame.querySelector("svg");
    const rows = root.querySelectorAll("tbody tr"), note = root.querySelector(".dp-note");
    const number = (at) => at.reduce((sum, i, k) => sum * sizes[k] + i, 0);
    const trees = [], seen = new Map();
    const tree = (i) => {
      if (!trees[i]) {
        const box = document.createElement("template");
        box.innerHTML = `<svg>${data.frames[i].map((c) => data.chunks[c]).join("")}</svg>`;
        trees[i] = box.content.firstElementChild.firstElementChild;
        for (const group of trees[i].querySelectorAll("g")) {
          const markup = group.outerHTML;
          group.same = seen.get(markup) ?? seen.set(markup, seen.size + 1).size;
        }
      }
      return trees[i];
    };
    const warm = (i) => i < data.frames.length && (window.requestIdleCallback ?? setTimeout)(() => (tree(i), warm(i + 1)));
    // The value at a slider's place; whole numbers stay whole.
    const value = (at, k) => {
      const i = Math.floor(at[k]), from = scales[k][i], x = from + (at[k] - i) * (scales[k][i + 1] - from);
      const number = data.logs[k] ? Math.exp(x) : x;
      return data.wholes[k] ? Math.round(number) : number;
    };
    // The rows of the frames around, one row: interpolated along one slider after the other.
    const interpolated = (found, at, index = []) => {
      const k = index.length;
      if (k === at.length) return found[number(index)];
      const i = Math.floor(at[k]), take = (j) => interpolated(found, at, [...index, j]);
      if (i === at[k]) return take(i);
      const around = [i - 1, i, i + 1, i + 2].map((j) => (j >= 0 && j < sizes[k] ? take(j) : undefined));
      if (!around[1] || !around[2]) return undefined;
      const there = [0, 1, 2, 3].filter((j) => around[j]);
      return between(there.map((j) => scales[k][i - 1 + j]), there.map((j) => around[j]), there.indexOf(1), data.logs[k] ? Math.log(value(at, k)) : value(at, k));
    };
    let moved = false, broken = false;
    // Makes the picture that is seen like that of the nearest stop, except where it lies between stops.
    const patch = (live, near, others, at) => {
      const fixed = near.same && others.every(([, node]) => node.same === near.same) && near.same;
      if (fixed && live.same === fixed) return;
      live.same = fixed;
      const alike = others.filter(([, node]) => kind(node) === kind(near));
      if (alike.length < others.length && drawn(near)) broken = true;
      if (kind(live) !== kind(near)) return live.replaceWith(near.cloneNode(true));
      for (const { name, value } of near.attributes) {
        if (name === "style" || name === "id") continue;
        let text = value;
        if (alike.length > 1 && alike.some(([, node]) => node.getAttribute(name) !== value)) {
          const parts = value.split(NUMBER), found = [];
          for (const [i, node] of alike) {
            const row = numbers(node, name);
            if (row.length === parts.length - 1) found[i] = row;
          }
          const row = interpolated(found, at);
          if (row) moved = true;
          else if (drawn(near)) broken = true;
          if (row) text = parts.map((part, i) => (i ? row[i - 1].toFixed(2) + part : part)).join("");
        }
        if (live.getAttribute(name) !== text) live.setAttribute(name, text);
      }
      for (let i = 0; i < near.children.length; i++)
        patch(live.children[i], near.children[i], alike.map(([f, node]) => [f, node.children[i]]), at);
    };
    const worded = (at, k) => {
      if (Number.isInteger(at[k])) return data.values[k][at[k]];
      return `${Number(value(at, k).toPrecision(3))} ${data.units[k]}`.trim();
    };
    const show = () => {
      const at = sliders.map((slider) => Number(slider.value)), nearest = at.map(Math.round), index = number(nearest);
      const texts = at.map((_, k) => worded(at, k));
      sliders.forEach((slider, k) => {
        slider.setAttribute("aria-valuetext", texts[k]);
        slider.parentNode.querySelector("output").textContent = texts[k];
      });
      const still = data.labels.map((label, k) => `${label} = ${texts[k]}`).join(", ");
      root.querySelector(".dp-still").textContent = `Shown: ${still}.`;
      frame.setAttribute("aria-label", `${data.alt} Shown: ${still}.`);
      let around = [[]];
      at.forEach((x, k) => {
        const i = Math.floor(x), js = i === x ? [i] : [i - 1, i, i + 1, i + 2].filter((j) => j >= 0 && j < sizes[k]);
        around = around.flatMap((point) => js.map((j) => [...point, j]));
      });
      const live = svg.querySelector(":scope > g");
      moved = broken = false;
      patch(live, tree(index), around.length > 1 ? around.map((point) => [number(point), tree(number(point))]) : [], at);
      if (broken) {
        moved = false;
        patch(svg.querySelector(":scope > g"), tree(index), [], at);
      }
      const open = at.flatMap((x, k) => (x === nearest[k] ? [] : [k]));
      if (note) {
        const ends = open.map((k) => `${data.labels[k]} = ${data.values[k][Math.floor(at[k])]} and ${data.values[k][Math.ceil(at[k])]}`);
        const kept = open.map((k) => data.values[k][nearest[k]]).join(", ");
        note.textContent = !open.length ? "" : moved ? `Curves interpolated between ${ends.join(", and between ")}; all else as at ${kept}.` : `Drawn as at ${kept}.`;
      }
      rows[root.dataset.frame]?.removeAttribute("aria-current");
      root.dataset.frame = index;
      if (!rows.length) return;
      rows[index].setAttribute("aria-current", "true");
      // Beside an interpolated curve: the numbers at both stops, and none between those of two sliders.
      const cells = (i) => [...rows[i].children].slice(sizes.length).map((cell) => cell.textContent);
      const [here, low, high] = [index, number(at.map(Math.floor)), number(at.map(Math.ceil))].map(cells);
      root.querySelectorAll(".dp-readout dd").forEach((item, k) => {
        item.textContent = !moved || low[k] === high[k] && open.length < 2 ? here[k] : open.length > 1 ? "–" : `${low[k]} to ${high[k]}`;
      });
    };
    root.addEventListener("pointerenter", () => warm(0), { once: true });
    root.addEventListener("focusin", () => warm(0), { once: true });
    for (const slider of sliders) {
      slider.addEventListener("input", show);
      // An arrow goes to the next stop; with Shift, a twentieth of the way.
      slider.addEventListener("keydown", (event) => {
        const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
        if (!way || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return;
        event.preventDefault();
        slider.value = way > 0 ? Math.floor(Number(slider.value) + 1) : Math.ceil(slider.value - 1);
        show();
      });
    }
    // On a narrow screen the panels stand below one another.
    const narrow = matchMedia("screen and (max-width: 30rem)"), wide = svg.getAttribute("viewBox");
    const lay = () => {
      svg.setAttribute("viewBox", narrow.matches ? data.stacked : wide);
      root.toggleAttribute("data-stacked", narrow.matches);
    };
    narrow.addEventListener("change", lay);
    lay();
    root.dataset.ready = "";
    show();
  }
})();

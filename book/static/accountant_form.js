/* The form of the accountant: reads the fields, names what is wrong beside them, shows the number, two plots, a sentence
   for a model card and the Python and the command that give the same. The numbers are those of accountant.js. */
(() => {
  "use strict";
  const RELATIONS = { add_remove: "one record added or removed", zero_out: "one record zeroed out", replace: "one record replaced" };
  const DEVIATION = "Noise of standard deviation σ times the clip norm on the sum over each batch";
  const PATIENCE = 1500;  /* milliseconds for the points of the plots, after the answer */

  /* 0.01, 1e-6: as Python and people write it. */
  const written = (x) => (x !== 0 && Math.abs(x) < 1e-3 ? x.toExponential() : String(x));
  const number = (x, digits = 5) => written(Number(x.toPrecision(digits)));
  const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;
  const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const counted = (n, name) => `${grouped(n)} ${name}${n === 1 ? "" : "s"}`;
  /* Rounded up, so that what is quoted is true. */
  function up(x, digits) {
    if (x === 0) return "0";
    const unit = 10 ** (digits - 1 - Math.floor(Math.log10(x)));
    const rounded = Math.ceil(x * unit * (1 - 1e-13)) / unit;
    return written(Number(rounded.toPrecision(digits + 1)));
  }

  /* Rounded down, for what is proved to be spent. */
  function down(x, digits) {
    if (x === 0) return "0";
    const unit = 10 ** (digits - 1 - Math.floor(Math.log10(x)));
    return written(Number((Math.floor(x * unit) / unit).toPrecision(digits + 1)));
  }

  /* A number as people write it: 50 000, 50_000, 50,000, 1e-6, 10^-6. Else NaN. */
  function parse(text) {
    let plain = text.trim().replace(/[\s_\u202f\u00a0]/g, "").replace("−", "-");
    if (/^\d{1,3}(,\d{3})+$/.test(plain)) plain = plain.replaceAll(",", "");
    plain = plain.replace(/^10\^\(?(-?\d+)\)?$/, "1e$1");
    return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
  }

  /* What the fields say, and what is wrong with them. */
  function read(form) {
    const text = (name) => form.elements[name].value, errors = {};
    const take = (name, test, words) => {
      const value = parse(text(name));
      if (Number.isNaN(value)) errors[name] = text(name).includes(",") ? "Write a number with a point, such as 1.5." : "Write a number, such as 500 or 1e-6.";
      else if (!test(value)) errors[name] = words;
      return value;
    };
    const samples = take("samples", (x) => Number.isInteger(x) && x >= 2 && x <= 1e10, "A whole number of records, from 2 to 10 billion.");
    const batch = take("batch", (x) => Number.isInteger(x) && x >= 1 && (errors.samples || x <= samples), "A whole number from 1 to the number of records.");
    const unit = text("unit");
    const length = unit === "epochs" ? take("duration", (x) => x > 0, "More than 0 epochs.")
      : take("duration", (x) => Number.isInteger(x) && x >= 1, "A whole number of steps, at least 1.");
    const steps = unit === "epochs" ? Math.max(1, Math.ceil(length * samples / batch * (1 - 1e-12))) : length;
    /* A shuffled epoch may drop its last, smaller batch, so that it has that many steps at least. */
    const inEpoch = Math.floor(samples / batch), onceSteps = unit === "epochs" ? Math.max(1, Math.ceil(length * inEpoch * (1 - 1e-12))) : steps;
    if (!errors.duration && (unit === "steps" || !errors.samples && !errors.batch) && steps > 1e7) errors.duration = `These are ${counted(steps, "step")}; this form goes to 10 million. The library has no limit.`;
    const given = text("given");
    const value = given === "noise"
      ? take("value", (x) => x >= 0.05 && x <= 1000, `A noise multiplier from 0.05 to 1000.${parse(text("value")) < 0.05 ? " With less, whoever knows the other records sees this one: no ε is worth quoting." : ""}`)
      : take("value", (x) => x >= 0.001 && x <= 1000, "An ε from 0.001 to 1000.");
    const delta = take("delta", (x) => x >= 1e-30 && x < 1, "A number from 1e-30 to below 1.");
    if (!errors.delta && !errors.samples && delta * samples >= 1) {
      errors.delta = `Refused: not below 1/n = ${number(1 / samples, 2)}. Publishing each record with probability δ would pass. Take δ well below 1/n, such as ${number(10 ** Math.floor(Math.log10(0.1 / samples)), 1)}.`;
    }
    return { errors, samples, batch, length, unit, steps, given, value, delta, inEpoch, onceSteps, q: batch / samples, relation: text("relation"), sampling: text("sampling") };
  }

  /* --- what is said ---------------------------------------------------------------------------- */

  function python(run, sampling = "poisson") {
    const call = run.given === "noise" ? "spent_epsilon(noise_multiplier" : "required_noise(epsilon";
    return `from dpdynamics import desk; desk.${call}=${run.value}, batch_size=${run.batch}, samples=${run.samples}, steps=${sampling === "shuffled" ? run.onceSteps : run.steps}, `
      + `delta=${written(run.delta)}, sampling="${sampling}", relation="${run.relation}")`;
  }

  function command(run) {
    const [verb, option] = run.given === "noise" ? ["epsilon", "--noise"] : ["noise", "--epsilon"];
    return `dpdynamics ${verb} ${option} ${run.value} --samples ${run.samples} --batch ${run.batch} --${run.unit} ${run.length} `
      + `--delta ${written(run.delta)}${run.relation === "add_remove" ? "" : ` --relation ${run.relation}`}${run.sampling === "fixed" || run.sampling === "shuffled" ? ` --sampling ${run.sampling}` : ""}`;
  }

  function card(run, noise, epsilon, batches, accountant, length = counted(run.steps, "step")) {
    return `(ε, δ) with ε at most ${epsilon} at δ = ${written(run.delta)}: DP-SGD, ${length}, noise multiplier ${noise}, every record's gradient clipped; `
      + `${batches} ${grouped(run.batch)} of ${grouped(run.samples)} records; neighbours differ by ${RELATIONS[run.relation]}; one training run, all noisy sums released; ${accountant}.`;
  }

  /* Answer for Poisson samples: {head, lines, card, noise, epsilon}. */
  function poisson(run) {
    const { accountant } = globalThis, { q, steps, relation, delta } = run, fixed = { q, steps, relation, delta };
    const kept = `${counted(steps, "step")}, q = B/n = ${number(q)}`, full = run.batch === run.samples;
    const drawn = full ? "every record in every step, batches of" : "Poisson samples of expected size", scheme = full ? "whole batches" : "Poisson samples";
    try {
      if (run.given === "noise") {
        const epsilon = accountant.epsilon({ ...fixed, noise: run.value }), quoted = up(epsilon, 3);
        const at = epsilon > 0 && Number(quoted) <= 1000 ? `At ε = ${quoted}, δ is ${number(accountant.delta({ ...fixed, noise: run.value, epsilon: Number(quoted) }), 3)}.` : "";
        return { head: `ε = ${number(epsilon)}. Quote: ε ≤ ${quoted}.`, lines: [`Exact for ${scheme}: ${kept}. ${at}`],
          card: card(run, run.value, quoted, drawn, "exact accountant (dpdynamics)"), noise: run.value, epsilon };
      }
      const noise = accountant.noise({ ...fixed, epsilon: run.value }), quoted = up(noise, 4);
      return { head: `Noise multiplier σ = ${number(noise)}. Take ${quoted}.`,
        lines: [`${DEVIATION}; exact for ${scheme}, rounded up: ${kept}.`],
        card: card(run, quoted, run.value, drawn, "exact accountant (dpdynamics)"), noise, epsilon: run.value };
    } catch (error) {
      if (!(error instanceof accountant.Refusal)) throw error;
      const why = `${sentence(error.message)} The value is guaranteed, by Rényi divergences of all orders, and is not exact. The library (line below) also convolves.`;
      const noise = run.given === "noise" ? run.value : up(accountant.boundNoise({ ...fixed, epsilon: run.value }), 4);
      const bound = run.given === "noise" ? up(accountant.bound({ ...fixed, noise }), 3) : run.value;
      return { head: run.given === "noise" ? `No exact ε. Quote: ε ≤ ${bound}.` : `No exact noise multiplier. Take σ = ${noise}.`, lines: [why],
        card: card(run, noise, bound, drawn, "Rényi accountant, an upper bound (dpdynamics)") };
    }
  }

  /* Each record takes part once in an epoch, so the epochs are at most one Gaussian release of mu = sqrt(E)/sigma, of
     twice that when a record is replaced. */
  function once(run) {
    const epochs = Math.ceil(run.onceSteps / run.inEpoch), whole = { q: 1, steps: epochs, relation: run.relation, delta: run.delta };
    const how = `Guaranteed without amplification: a record takes part ${epochs === 1 ? "in one epoch" : `once in each of ${epochs} epochs`}`;
    if (run.given === "noise") {
      const quoted = up(globalThis.accountant.epsilon({ ...whole, noise: run.value }), 3);
      return { quoted, how, epochs, noise: run.value, epsilon: quoted };
    }
    const quoted = up(globalThis.accountant.noise({ ...whole, epsilon: run.value }), 4);
    return { quoted, how, epochs, noise: quoted, epsilon: run.value };
  }

  /* Samples of fixed size: bounds from both sides. */
  function fixed(run) {
    const { accountant } = globalThis, { q, steps, relation, delta } = run, sizes = { q, steps, relation, delta };
    if (run.given === "noise") {
      const at = { ...sizes, noise: run.value }, quoted = up(accountant.fixedUpper(at), 3);
      return { quoted, low: down(accountant.fixedLower(at), 3), noise: run.value, epsilon: quoted };
    }
    const quoted = up(accountant.fixedNoise({ ...sizes, epsilon: run.value }), 4);
    return { quoted, noise: quoted, epsilon: run.value };
  }

  /* Of Poisson samples, or undefined where the exact value is refused. */
  function poissonValue(run) {
    const ask = globalThis.accountant[run.given === "noise" ? "epsilon" : "noise"], { q, steps, relation, delta } = run;
    try { return ask({ q, steps, relation, delta, [run.given]: run.value }); } catch (error) {
      if (!(error instanceof globalThis.accountant.Refusal)) throw error;
    }
  }

  function other(run) {
    const noisy = run.given === "noise", asked = noisy ? "ε" : "noise multiplier";
    const say = (quoted) => (noisy ? `Quote: ε ≤ ${quoted}` : `Take σ = ${quoted}`);
    const near = run.relation === "add_remove" ? " The number of records is public here: “added or removed” stands for zeroed out." : "";
    const relation = run.relation === "replace" ? "replace" : "zero_out", alike = { ...run, relation };
    const line = (sampling) => ({ python: python(alike, sampling), command: command(alike) });
    if (run.sampling === "fixed") {
      const { steps } = run, { quoted, low, noise, epsilon } = fixed(alike), spent = low > 0 ? `; explicit data spend ${low}` : "";
      const value = poissonValue(alike);
      return { head: `${say(quoted)}: guaranteed${spent}. No exact ${asked} is known for samples of fixed size.`, ...line("fixed"), lines: [
        `${noisy ? "No data exceed it" : `At this noise no data spend more. ${DEVIATION}`}. ${value === undefined ? "The value of Poisson samples" : `Poisson samples ${noisy ? "spend" : "need"} ${number(value, 3)}, which`} is not valid here.${steps < 300 ? " For so few steps the library (line below) finds a closer value, guaranteed too." : ""}${near}`],
        card: card(alike, noise, epsilon, "fresh samples without replacement, batches of", "dominating pair of a step, composed (an upper bound, dpdynamics)") };
    }
    if (run.sampling === "unknown") {
      const known = noisy ? "ε ≤" : "σ =", exact = poissonValue(run), value = exact === undefined ? "refused" : up(exact, noisy ? 3 : 4);
      return { head: `Refused: without the way of drawing there is no ${asked}.`, lines: [
        `If Poisson samples: ${known} ${value}. If shuffled epochs or balls and bins: ${known} ${once(run).quoted}. If samples of fixed size: ${known} ${fixed(alike).quoted}.`,
        "Read the data loader: a coin for each record is Poisson (Opacus' default), “shuffle=True” is shuffled epochs. Until you know, quote nothing."] };
    }
    const { quoted, how, epochs, noise, epsilon } = once(run), bins = run.sampling === "bins";
    const rest = bins ? "For one epoch the library knows the exact value, accounting.BallsInBins; for several it does not compose them, and the Poisson value is not valid."
      : `The true value is not known; at noise near 1 it is proved to be far above that of Poisson samples, which is not valid here.${noisy ? " The command below gives both ends." : ""}`;
    return { head: `${say(quoted)}: guaranteed. No exact ${asked} ${bins ? "is computed here" : "is known for shuffled epochs"}.`,
      lines: [`${how}. ${noisy ? "" : `${DEVIATION}. `}${rest}${near}`], ...(bins ? {} : line("shuffled")),
      card: card(alike, noise, epsilon, bins ? "every record in one random batch of each epoch, batches of about" : "shuffled epochs, batches of", "plain Gaussian releases, no amplification (an upper bound)",
        `${counted(epochs, "epoch")}, each record in one batch of each`) };
  }

  /* --- what is drawn --------------------------------------------------------------------------- */

  const svg = (name, attributes, text) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };

  function ticks(low, high) {
    const rough = (high - low) / 4, unit = 10 ** Math.floor(Math.log10(rough)), step = unit * [1, 2, 5, 10].find((m) => m * unit >= rough);
    const found = [];
    for (let k = Math.ceil(low / step); k * step <= high * (1 + 1e-9); k++) found.push(Number((k * step).toPrecision(12)));
    return found;
  }

  /* A curve through points with the place of this run; `log` says that y holds powers of ten. */
  function plot(points, here, across, upwards, log) {
    const [width, height, left, bottom, top, right] = [320, 210, 46, 36, 22, 12];
    const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
    let [x0, x1, y0, y1] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    y0 = log ? Math.floor(y0) : 0;
    y1 = log ? Math.max(Math.ceil(y1), y0 + 1) : y1 * 1.05;
    const X = (x) => left + (x - x0) / (x1 - x0) * (width - left - right), Y = (y) => height - bottom - (y - y0) / (y1 - y0) * (height - bottom - top);
    const say = (x) => number(x, 3), value = (y) => (log ? number(10 ** y, 2) : say(y));
    const label = `${upwards} against ${across}, from ${value(ys[0])} at ${say(xs[0])} to ${value(ys.at(-1))} at ${say(xs.at(-1))}; this run: ${value(here[1])} at ${say(here[0])}.`;
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
    for (const x of ticks(x0, x1)) root.append(svg("text", { x: X(x), y: height - bottom + 14, "text-anchor": "middle" }, say(x)));
    const levels = log ? ticks(y0, y1).filter(Number.isInteger) : ticks(y0, y1);
    for (const y of levels) {
      root.append(svg("line", { x1: left, x2: width - right, y1: Y(y), y2: Y(y), class: "grid" }));
      root.append(svg("text", { x: left - 5, y: Y(y) + 4, "text-anchor": "end" }, log ? `1e${y}` : say(y)));
    }
    root.append(svg("path", { d: `M${left},${top}V${height - bottom}H${width - right}`, class: "axis" }));
    root.append(svg("polyline", { points: points.map(([x, y]) => `${X(x).toFixed(1)},${Y(y).toFixed(1)}`).join(" "), class: "curve" }));
    root.append(svg("circle", { cx: X(here[0]), cy: Y(here[1]), r: 4, class: "here" }));
    root.append(svg("text", { x: width - right, y: height - 5, "text-anchor": "end" }, across), svg("text", { x: 4, y: 12 }, upwards));
    return root;
  }

  /* Point after point, so that the page stays alive; refused points are left out. `current` says whether to go on. */
  async function curves(run, { noise, epsilon }, current) {
    const { accountant } = globalThis, { q, steps, relation, delta } = run, start = performance.now(), drawn = [];
    const collect = async (places, at) => {
      const points = [];
      for (const place of places) {
        await new Promise((done) => setTimeout(done));
        if (!current() || performance.now() - start > PATIENCE) return [];
        try { points.push(at(place)); } catch (error) { if (!(error instanceof accountant.Refusal)) throw error; }
      }
      return points.filter(([, y]) => Number.isFinite(y));
    };
    const fractions = [...Array(13).keys()].map((k) => k / 8), epochs = steps * q;
    const profile = await collect(fractions.map((f) => f * epsilon).filter((e) => e <= 1000), (e) => [e, Math.log10(accountant.delta({ noise, q, steps, relation, epsilon: e }))]);
    if (profile.length > 4) drawn.push(plot(profile, [epsilon, Math.log10(delta)], "ε", "δ", true));
    const lengths = [...Array(12).keys()].map((k) => Math.max(1, Math.round(steps * (k + 1) / 6)));
    const growth = await collect([...new Set(lengths)], (k) => [k * q, accountant.epsilon({ noise, q, steps: k, relation, delta })]);
    if (growth.length > 4) drawn.push(plot(growth, [epochs, epsilon], "epochs", "ε", false));
    return drawn;
  }

  /* --- the page -------------------------------------------------------------------------------- */

  const make = (name, text, className) => {
    const element = document.createElement(name);
    if (text) element.textContent = text;
    if (className) element.className = className;
    return element;
  };

  function copyable(title, text, tag) {
    const box = make("div", "", "accountant-copy"), content = make(tag), button = make("button", "Copy");
    for (const word of text.split(" ")) content.append(content.childNodes.length ? " " : "", tag === "code" ? make("span", word) : word);
    button.type = "button";
    button.setAttribute("aria-label", `Copy: ${title}`);
    button.addEventListener("click", async () => {
      try { await navigator.clipboard.writeText(text); } catch {
        getSelection().selectAllChildren(content);
        document.execCommand("copy");
      }
      button.textContent = "Copied";
    });
    box.append(make("span", title), content, button);
    return box;
  }

  function start(root) {
    const form = root.querySelector("form"), answer = form.querySelector(".accountant-answer"), more = form.querySelector(".accountant-more");
    let turn = 0, waiting;

    function show() {
      const mine = ++turn, run = read(form);
      for (const name of ["samples", "batch", "duration", "value", "delta"]) {
        form.elements[name].setAttribute("aria-invalid", String(name in run.errors));
        document.getElementById(`accountant-${name}-error`).textContent = run.errors[name] || "";
      }
      more.replaceChildren();
      if (Object.keys(run.errors).length) {
        answer.replaceChildren(make("p", `No number yet: see ${Object.keys(run.errors).map((name) => form.querySelector(`label[for=accountant-${name}]`).textContent).join("; ")}.`));
        return;
      }
      let reply;
      try { reply = run.sampling === "poisson" || run.batch === run.samples ? poisson(run) : other(run); } catch (error) {
        reply = { head: "Refused: no number is guaranteed.", lines: [error instanceof globalThis.accountant.Refusal ? sentence(error.message) : String(error)] };
      }
      answer.replaceChildren(make("p", reply.head, "accountant-number"), ...reply.lines.map((line) => make("p", line)));
      const plots = make("div", "", "accountant-plots");
      more.append(plots);
      if (reply.card) more.append(copyable("For a model card", reply.card, "p"));
      const exact = run.sampling === "poisson" || run.batch === run.samples;
      if (reply.python || exact) more.append(copyable("The same in Python", reply.python || python(run), "code"));
      if (reply.command || exact && reply.epsilon !== undefined) more.append(copyable("The same as a command", reply.command || command(run), "code"));
      if (run.sampling !== "poisson") {
        const where = make("p"), link = make("a", "Which epsilon?");
        link.href = "#which-epsilon";
        where.append("How answers, refusals and brackets are meant: ", link);
        more.append(where);
      }
      if (reply.epsilon > 0) curves(run, reply, () => mine === turn).then((drawn) => { if (mine === turn) plots.replaceChildren(...drawn); });
    }

    form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(show, 150); });
    form.addEventListener("submit", (event) => { event.preventDefault(); show(); });
    window.addEventListener("pageshow", show);  /* after "back" a browser fills the form again */
    form.hidden = false;
    root.dataset.ready = "";
    show();
  }

  for (const root of document.querySelectorAll(".accountant")) start(root);
})();

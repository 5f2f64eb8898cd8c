/* The form of the accountant: reads the fields, names what is wrong beside them, shows the number or its two ends, two plots, a
   sentence for a model card, the Python and the command that give the same, and what they rest on. The numbers are those of accountant.js. */
(() => {
  "use strict";
  const RELATIONS = { add_remove: "one record added or removed", zero_out: "one record zeroed out", replace: "one record replaced" };
  const DEVIATION = "Noise of standard deviation σ times the clip norm on the sum over each batch";
  const PUBLIC = " Without Poisson samples the number of records is public, and “added or removed” is read as zeroed out.";
  const PATIENCE = 4000;  /* milliseconds for the points of a plot, after the answer */

  /* 0.01, 1e-6: as Python and people write it. */
  const written = (x) => (x !== 0 && Math.abs(x) < 1e-3 ? x.toExponential() : String(x));
  const number = (x, digits = 5) => written(Number(x.toPrecision(digits)));
  const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;
  const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const counted = (n, name) => `${grouped(n)} ${name}${n === 1 ? "" : "s"}`;
  const large = (text) => (/^\d{5,}$/.test(text) ? grouped(text) : text);
  const batches = (n) => `${grouped(n)} batch${n === 1 ? "" : "es"}`;
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

  const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

  /* A number as people write it: 50 000, 50_000, 50,000, 50k, 1e-6, 10^-6, 2 × 10⁻⁶. Else NaN. */
  function parse(text) {
    let plain = text.trim().replace(/[\s_\u202f\u00a0]/g, "").replace("−", "-");
    plain = plain.replace(/(⁻?)([⁰¹²³⁴⁵⁶⁷⁸⁹]+)$/, (_, minus, digits) => `^${minus && "-"}${[...digits].map((digit) => RAISED.indexOf(digit)).join("")}`);
    if (/^[1-9]\d{0,2}(,\d{3})+$/.test(plain)) plain = plain.replaceAll(",", "");
    plain = plain.replace(/^(?:(.+)[×x*·])?10(?:\^|\*\*)\(?(-?\d+)\)?$/, (_, factor = "1", power) => `${factor}e${power}`);
    plain = plain.replace(/^([\d.]+)([kM])$/, (_, digits, unit) => `${digits}${unit === "k" ? "e3" : "e6"}`);
    return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
  }

  /* What the fields say, and what is wrong with them. */
  function read(form) {
    const text = (name) => form.elements[name].value, errors = {}, unread = {};
    const take = (name, test, words) => {
      const value = name === "value" && text(name).includes(",") ? NaN : parse(text(name));  /* 1,3 is 1.3 to some */
      if (Number.isNaN(value)) {
        unread[name] = text(name).trim() ? "cannot be read" : "is empty";
        errors[name] = name === "value" || text(name).includes(",") ? "Write a number with a point, such as 1.5." : "Write a number, such as 500 or 1e-6.";
      } else if (["samples", "batch"].includes(name) && /^\d{1,3}(\.\d{3})+$/.test(text(name).trim())) errors[name] = "Write it without a point, such as 120 000: 120.000 is 120 to some.";
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
    /* Steps that are whole epochs only if that batch is kept. */
    const keeps = unit === "steps" && samples % batch !== 0 && steps % (inEpoch + 1) === 0 && steps % inEpoch !== 0;
    if (!errors.duration && (unit === "steps" || !errors.samples && !errors.batch) && steps > 1e7) errors.duration = `These are ${counted(steps, "step")}; this form goes to 10 million. The library has no limit.`;
    const given = text("given");
    const value = given === "noise"
      ? take("value", (x) => x >= 0.05 && x <= 1000, `Give a noise multiplier from 0.05 to 1000.${parse(text("value")) < 0.05 ? " With less, whoever knows the other records sees this one." : ""}`)
      : take("value", (x) => x >= 0.001 && x <= 1000, "Give an ε from 0.001 to 1000.");
    const delta = take("delta", (x) => x >= 1e-30 && x < 1, "Give a number from 1e-30 to below 1.");
    if (!errors.delta && !errors.samples && delta * samples >= 1) {
      errors.delta = `It is not below 1/n = ${number(1 / samples, 2)}: publishing each record with probability δ would pass. Take δ well below 1/n, such as ${number(smaller(samples), 1)}.`;
    }
    return { errors, unread, samples, batch, length, unit, steps, given, value, delta, inEpoch, onceSteps, keeps, q: batch / samples, relation: text("relation"), sampling: text("sampling") };
  }

  /* --- what is said ---------------------------------------------------------------------------- */

  const CONVOLVED = "privacy loss of a step, convolved on a mesh (an upper bound, dpdynamics)";
  const ATTACK = "an attack on the releases of each epoch";
  /* How the batches of each kind are drawn, in a model card and in the answer; what the two ends of epsilon rest on. */
  const WAYS = {
    whole: { drawn: "every record in every step, batches of", words: "whole batches", from: "exact accountant (dpdynamics)" },
    poisson: { drawn: "Poisson samples of expected size", words: "Poisson samples", from: "exact accountant (dpdynamics)", not: "is not exact" },
    fixed: { drawn: "fresh samples without replacement, batches of", words: "samples of fixed size", from: "dominating pair of a step, composed (an upper bound, dpdynamics)",
      above: "No data exceed the upper end; explicit data spend the lower", below: "explicit data spend", closer: "a bound on all steps together (an upper bound, dpdynamics)" },
    shuffled: { drawn: "shuffled epochs, batches of", words: "shuffled epochs", from: "plain Gaussian releases, no amplification (an upper bound)", once: true,
      above: `The upper end is guaranteed without amplification, as a record takes part once in each epoch; the lower is what ${ATTACK} proves`, below: `${ATTACK} proves` },
    bins: { drawn: "every record in one random batch of each epoch, batches of about", words: "epochs of balls and bins", from: "Rényi divergences of the epochs, composed (an upper bound, dpdynamics)", once: true,
      above: `The upper end is guaranteed by the Rényi divergences of an epoch, composed; the lower is what ${ATTACK} proves`, below: `${ATTACK} proves`,
      closer: "privacy loss of an epoch, composed on a mesh (an upper bound, dpdynamics)", instead: `The privacy loss of an epoch is put on a mesh and composed, rounded up; the lower end is what ${ATTACK} proves, or that loss rounded down` },
  };

  const kept = (run, sampling) => run.keeps && sampling === "shuffled";

  /* The run as the accountant takes it. Without coins the number of records is public. */
  function asked(run, sampling) {
    const plain = sampling === "poisson" || sampling === "whole", relation = plain || run.relation === "replace" ? run.relation : "zero_out";
    const once = WAYS[sampling].once && (kept(run, sampling) ? run.steps / (run.inEpoch + 1) * run.inEpoch : run.onceSteps);
    return { q: run.q, steps: once || run.steps, relation, delta: run.delta, sampling: sampling === "whole" ? "poisson" : sampling };
  }

  function python(run, { steps, relation, sampling }) {
    const call = run.given === "noise" ? "spent_epsilon(noise_multiplier" : "required_noise(epsilon";
    return `from dpdynamics import desk; print(desk.${call}=${run.value}, batch_size=${run.batch}, samples=${run.samples}, steps=${steps}, `
      + `delta=${written(run.delta)}, sampling="${sampling}", relation="${relation}"))`;
  }

  function command(run, { relation, sampling, steps }) {
    const length = kept(run, sampling) ? `--epochs ${steps / run.inEpoch}` : `--${run.unit} ${run.length}`, [verb, option] = run.given === "noise" ? ["epsilon", "--noise"] : ["noise", "--epsilon"];
    return `dpdynamics ${verb} ${option} ${run.value} --samples ${run.samples} --batch ${run.batch} ${length} `
      + `--delta ${written(run.delta)}${relation === "add_remove" ? "" : ` --relation ${relation}`}${sampling === "poisson" ? "" : ` --sampling ${sampling}`}`;
  }

  const epochsOf = (run, steps) => Math.ceil(steps / run.inEpoch);

  function card(run, way, { relation, steps }, noise, epsilon, from) {
    const length = way.once ? `${counted(epochsOf(run, steps), "epoch")}${way === WAYS.bins ? ` of ${run.inEpoch} batches` : ", each record in one batch of each at most"}` : counted(run.steps, "step");
    return `(ε, δ) with ε at most ${epsilon} at δ = ${written(run.delta)}: DP-SGD, ${length}, noise multiplier ${noise}, every record's gradient clipped; `
      + `${way.drawn} ${grouped(run.batch)} of ${grouped(run.samples)} records; neighbours differ by ${RELATIONS[relation]}; one training run, all noisy sums released; ${from}.`;
  }

  /* What may be quoted whatever else is refused: plain releases of all steps, exactly or else by
     epsilon <= rho + 2 sqrt(rho ln(1/delta)), rho = k mu^2/2 (Bun and Steinke, 2016). Undefined where the noise or target is not positive. */
  function always({ given, value, steps, delta, relation, samples }) {
    if (!(delta >= 1e-30 && delta * samples < 1)) delta = smaller(samples);
    const log = Math.log(1 / delta), root = (relation === "replace" ? 2 : 1) * Math.sqrt(steps);
    const ask = { q: 1, steps, delta, relation, sampling: "poisson" }, mu = root / value;
    const exactly = (ask, bound) => { try { return ask(globalThis.accountant); } catch { return bound; } };
    const noiseFor = (epsilon) => exactly((a) => a.noise({ ...ask, epsilon }), root / (Math.sqrt(2 * (log + epsilon)) - Math.sqrt(2 * log)));
    const epsilon = exactly((a) => a.epsilon({ ...ask, noise: value }).high, mu * mu / 2 + mu * Math.sqrt(2 * log)), enough = noiseFor(value);
    if (!(value > 0 && log > 0 && (given === "noise" ? epsilon : enough) < 1e300)) return undefined;
    const however = `at δ = ${written(delta)} for ${counted(steps, "step")}, however the batches are drawn, as long as none holds a record twice`;
    return given === "noise" ? `You may quote ε ≤ ${large(up(epsilon, 3))} ${however}.${epsilon > 100 ? ` That promises next to nothing; ε ≤ 10 takes σ = ${up(noiseFor(10), 3)} without amplification.` : ""}`
      : `You may take σ = ${up(enough, 4)}: enough for ε ≤ ${number(value)} ${however}.`;
  }

  /* The answer at a delta well below 1/n, where that is what is wrong. */
  function elsewhere(run) {
    const delta = smaller(run.samples), sampling = run.batch === run.samples ? "whole" : run.sampling, at = `At δ = ${written(delta)}`;
    const rough = ["fixed", "bins", "unknown"].includes(sampling) ? " Enter this δ for a closer value." : "";
    try {
      const { head, lines: [each, read] } = answered({ ...run, delta });
      return sampling === "unknown" ? `${at} it depends on how the batches are drawn. ${each}${rough} ${read}` : `${at}: ${head}${rough}`;
    } catch { return always(run); }
  }

  /* A delta well below 1/n. */
  const smaller = (samples) => 10 ** Math.floor(Math.log10(0.1 / samples));

  /* The search, piece by piece, for what is closer than the answer at once: {low, high, why} by the way of drawing. */
  function* sought(run) {
    const { accountant } = globalThis, found = {}, ways = { unknown: ["fixed", "bins"], fixed: ["fixed"], bins: ["bins"], shuffled: ["shuffled"] };
    for (const sampling of run.batch < run.samples && ways[run.sampling] || []) {
      const ask = asked(run, sampling);
      try {
        if (run.given === "noise") { found[sampling] = yield* accountant.closer({ what: "epsilon", ...ask, noise: run.value }); continue; }
        const start = accountant.noise({ ...ask, epsilon: run.value });
        found[sampling] = yield* accountant.closer({ what: "noise", ...ask, epsilon: run.value, start });
        if (run.sampling === sampling && sampling !== "fixed") found[sampling].low = yield* accountant.below({ what: "epsilon", ...ask, noise: Number(up(found[sampling].high, 4)) });
      } catch (error) { if (!(error instanceof accountant.Refusal)) throw error; }
    }
    return found;
  }

  /* A long computation in pieces that leave the page alive; undefined where it is not wanted any more. */
  async function drained(pieces, current) {
    for (let start = performance.now(); ;) {
      const { done, value } = pieces.next();
      if (done) return value;
      if (performance.now() - start < 15) continue;
      await new Promise((next) => setTimeout(next));
      if (!current()) return undefined;
      start = performance.now();
    }
  }

  /* The answer: {head, lines, card, noise, epsilon, asked}. `closer` is what was `sought`. */
  function answered(run, closer = {}) {
    const { accountant } = globalThis, noisy = run.given === "noise", what = noisy ? "ε" : "noise multiplier";
    if (run.sampling === "unknown" && run.batch < run.samples) {
      const each = ["poisson", "shuffled", "bins", "fixed"].map((sampling) => {
        const way = WAYS[sampling];
        try {
          const found = noisy ? accountant.epsilon({ ...asked(run, sampling), noise: run.value }).high : accountant.noise({ ...asked(run, sampling), epsilon: run.value });
          const value = Math.min(found, closer[sampling]?.high ?? Infinity);
          return `If ${way.words}${way.once ? ` (${epochsOf(run, asked(run, sampling).steps)})` : ""}: ${noisy ? `ε ≤ ${large(up(value, 3))}` : `σ = ${up(value, 4)}`}.`;
        } catch { return `If ${WAYS[sampling].words}: refused.`; }
      });
      return { head: `Refused: without the way of drawing there is no ${what}.`, asked: { ...asked(run, "fixed"), sampling: "unknown" }, lines: [`${each.join(" ")}${run.relation === "add_remove" ? PUBLIC : ""}`,
        `Read the data loader: a coin for each record is Poisson (Opacus' default), “shuffle=True” is shuffled epochs.${opacus(run)} ${always(run)}`] };
    }
    const sampling = run.batch === run.samples ? "whole" : run.sampling, way = WAYS[sampling], ask = asked(run, sampling);
    const near = ask.relation === run.relation ? "" : PUBLIC, { low: least = 0, high: most = Infinity, why: none } = closer[sampling] ?? {};
    const said = (text, both) => (both ? text : text.split(";")[0]);
    const basis = (nearer, both) => `${said(nearer && way.instead || way.above, both)}.${none ? ` No closer bound is computed: ${none}.` : ""}`;
    if (noisy) {
      const { low: attacked, high: bound, exact, why, mesh } = accountant.epsilon({ ...ask, noise: run.value }), high = Math.min(bound, most), low = Math.max(attacked, Math.min(least, high));
      const from = high < bound ? way.closer : exact || !why ? way.from : mesh ? CONVOLVED : "Rényi accountant, an upper bound (dpdynamics)", quoted = up(high, 3), proved = low > 0 ? ` Some data spend at least ${large(down(low, 3))}.` : "";
      const at = () => `At ε = ${quoted}, δ is ${number(accountant.delta({ ...ask, noise: run.value, epsilon: Number(quoted) }).high, 3)}.`;
      const told = { card: card(run, way, ask, run.value, quoted, from), noise: run.value, epsilon: high, asked: ask, nearer: high < bound || low > attacked };
      if (exact) return { head: `ε = ${large(number(high))}. Quote: ε ≤ ${large(quoted)}, rounded up.`, lines: [`Exact for ${way.words}: ${counted(run.steps, "step")}, q = B/n = ${number(run.q)}. ${high > 0 && Number(quoted) <= 1000 ? at() : ""}${sampling === "poisson" ? opacus(run) : ""}`], ...told };
      if (!way.above) return { head: `Quote: ε ≤ ${large(quoted)}, guaranteed.${proved}`, lines: [`No exact ε here: ${why}. The value is guaranteed, by ${mesh ? "convolution on a mesh, rounded up" : "Rényi divergences of all orders"}. The library (line below) takes longer and comes closer.`], ...told };
      const wide = high > 4 * low ? " Python and command refuse where the ends are more than a factor of four apart, and name them." : "";
      return { head: `Quote: ε ≤ ${large(quoted)}, guaranteed.${proved}`, lines: [`No exact ε is known for ${way.words}. ${basis(high < bound, low > 0)} ${counting(run, ask)}${near}${wide}`], ...told };
    }
    const bound = accountant.noise({ ...ask, epsilon: run.value }), noise = Math.min(bound, most), quoted = up(noise, 4);
    const rare = run.q * ask.steps < 1 && !way.once && !accountant.epsilon({ ...ask, noise }).exact;
    const told = { card: card(run, way, ask, quoted, run.value, rare ? CONVOLVED : noise < bound ? way.closer : way.from), noise, epsilon: run.value, asked: ask, nearer: noise < bound };
    if (rare && !way.above) return { head: `Take σ = ${quoted}, which is enough.`, lines: [`${DEVIATION}; no exact value here, as a record takes part ${number(run.q * ask.steps, 2)} times on average: convolution on a mesh, rounded up. The library (line below) takes longer and comes closer.`], ...told };
    if (!way.above) return { head: `Noise multiplier σ = ${number(noise)}. Take ${quoted}.`, lines: [`${DEVIATION}; for ${way.words}, rounded up: ${counted(run.steps, "step")}, q = B/n = ${number(run.q)}.${sampling === "poisson" ? opacus(run) : ""}`], ...told };
    const spent = Math.min(run.value, Math.max(accountant.epsilon({ ...ask, noise: Number(quoted) }).low, least)), slack = spent > 0 ? ` Some data spend at least ε = ${down(spent, 3)} with it.` : "";
    return { head: `Take σ = ${quoted}, which is enough.${slack}`, lines: [`No exact noise multiplier is known for ${way.words}. ${basis(noise < bound, true)} ${DEVIATION}. ${counting(run, ask)}${near}`], below: way.below, ...told };
  }

  /* What Opacus makes of this batch size: its loader takes ceil(n/B) steps an epoch, floor(n/B) if it drops the last batch, each
     with the reciprocal as probability. */
  function opacus(run) {
    const inside = [Math.ceil(run.samples / run.batch), run.inEpoch], { accountant } = globalThis;
    if (inside[0] === inside[1]) return "";
    try {
      const [kept, dropped] = inside.map((m) => {
        const ask = { ...asked(run, "poisson"), q: 1 / m, steps: run.unit === "epochs" ? Math.ceil(run.length * m * (1 - 1e-12)) : run.steps };
        const value = run.given === "noise" ? `ε ≤ ${large(up(accountant.epsilon({ ...ask, noise: run.value }).high, 3))}` : `σ = ${up(accountant.noise({ ...ask, epsilon: run.value }), 4)}`;
        return `${counted(ask.steps, "step")} with q = 1/${grouped(m)}: ${value}`;
      });
      return ` The loader of Opacus makes of this batch size ${kept}; with drop_last ${dropped}.`;
    } catch (error) {
      if (!(error instanceof accountant.Refusal)) throw error;
      return "";
    }
  }

  /* What is no answer here, and how epochs are counted. */
  function counting(run, { sampling, steps }) {
    const all = kept(run, sampling), rest = all ? `, the last, smaller one among them; if yours drops that, enter ${epochsOf(run, run.onceSteps)} epochs`
      : sampling === "shuffled" && run.samples % run.batch ? "; the last, smaller batch may be dropped or kept" : steps % run.inEpoch ? "; the last epoch is only begun" : "";
    const epoch = WAYS[sampling].once ? ` Counted: ${counted(epochsOf(run, steps), "epoch")} of ${batches(run.inEpoch + (all ? 1 : 0))}${rest}.` : "";
    return `The value of Poisson samples is not valid here.${epoch}`;
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

  /* A curve through points [x, low, high], or a band where these differ, with the place of this run; `log` says that y
     holds powers of ten. */
  function plot(points, [x0, x1], here, across, upwards, log) {
    const [width, height, left, bottom, top, right] = [320, 210, 46, 36, 22, 12];
    const xs = points.map((p) => p[0]), ys = points.map((p) => p[2]);
    let [y0, y1] = [Math.min(...ys), Math.max(...ys)];
    y0 = log ? Math.floor(y0) : 0;
    y1 = log ? Math.max(Math.ceil(y1), y0 + 1) : y1 * 1.05;
    const X = (x) => left + (x - x0) / (x1 - x0) * (width - left - right), Y = (y) => height - bottom - (y - y0) / (y1 - y0) * (height - bottom - top);
    const band = points.some(([, low, high]) => low < high), say = (x) => number(x, 3), value = (y) => (log ? number(10 ** y, 2) : say(y));
    const label = `${upwards} against ${across}, from ${value(ys[0])} at ${say(xs[0])} to ${value(ys.at(-1))} at ${say(xs.at(-1))}; this run: ${value(here[1])} at ${say(here[0])}.${band ? " The band reaches down to what is proved to be spent." : ""}`;
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
    for (const x of ticks(x0, x1)) root.append(svg("text", { x: X(x), y: height - bottom + 14, "text-anchor": "middle" }, say(x)));
    const levels = log ? ticks(y0, y1).filter(Number.isInteger) : ticks(y0, y1);
    for (const y of levels) {
      root.append(svg("line", { x1: left, x2: width - right, y1: Y(y), y2: Y(y), class: "grid" }));
      root.append(svg("text", { x: left - 5, y: Y(y) + 4, "text-anchor": "end" }, log ? `1e${y}` : say(y)));
    }
    root.append(svg("path", { d: `M${left},${top}V${height - bottom}H${width - right}`, class: "axis" }));
    const path = (end) => points.map((p) => `${X(p[0]).toFixed(1)},${Y(Math.max(p[end], y0)).toFixed(1)}`);
    if (band) root.append(svg("polygon", { points: [...path(2), ...path(1).reverse()].join(" "), class: "band" }));
    root.append(svg("polyline", { points: path(2).join(" "), class: "curve" }));
    root.append(svg("circle", { cx: X(here[0]), cy: Y(here[1]), r: 4, class: "here" }));
    root.append(svg("text", { x: width - right, y: height - 5, "text-anchor": "end" }, across), svg("text", { x: 4, y: 12 }, upwards));
    return root;
  }

  /* Point after point, so that the page stays alive; what is refused is left out. `current` says whether to go on, `show`
     takes each plot. */
  async function curves(run, { noise, epsilon, asked: ask, below, nearer }, current, show) {
    const { accountant } = globalThis;
    const collect = async (places, at) => {
      const points = [], start = performance.now();
      for (const place of places) {
        await new Promise((done) => setTimeout(done));
        if (!current() || performance.now() - start > PATIENCE) break;
        try { points.push(await at(place)); } catch (error) { if (!(error instanceof accountant.Refusal)) throw error; }
      }
      return points.filter(([, , y]) => Number.isFinite(y));
    };
    const places = [...Array(13).keys()].map((k) => k / 8 * epsilon).filter((e) => e <= 1000);
    /* Both ends, or what is closer. */
    const ends = async ({ low, high }, question) => {
      const found = nearer && await drained(accountant.closer({ ...ask, noise, ...question }), current) || { low, high };
      return [Math.max(low, found.low), Math.min(high, found.high)];
    };
    const profile = await collect(places, async (e) => {
      const found = await ends(accountant.delta({ ...ask, noise, epsilon: e, rough: true }), { what: "delta", epsilon: e });
      return [e, ...found.map(Math.log10)];
    });
    if (profile.length > 4) show(plot(profile, [0, places.at(-1)], [epsilon, Math.log10(run.delta)], "ε", "δ", true));
    const inside = WAYS[ask.sampling].once ? run.inEpoch : 1 / ask.q, whole = WAYS[ask.sampling].once ? inside : 1, rounds = ask.steps / whole;
    const lengths = [...new Set([...Array(12).keys()].map((k) => Math.max(1, Math.round(rounds * (k + 1) / 6)) * whole))].filter((steps) => steps <= 1e7);
    const growth = await collect(lengths, async (steps) => {
      return [steps / inside, ...await ends(accountant.epsilon({ ...ask, noise, steps, rough: true }), { what: "epsilon", steps, coarse: true })];
    });
    if (growth.length > 4) show(plot(growth, [lengths[0] / inside, lengths.at(-1) / inside], [ask.steps / inside, epsilon], "epochs", "ε", false));
    if (below) await collect([0], async () => {
      const least = await drained(accountant.below({ what: "noise", ...ask, epsilon, start: accountant.noiseBelow({ ...ask, epsilon }), coarse: true }), current);
      if (least > 0) show(make("p", `At less than σ = ${down(least, 3)}, ${below} more than ε = ${number(epsilon, 4)}.`));
      return [0, 0, NaN];
    });
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
    const basis = form.querySelector(".accountant-basis"), runs = form.querySelector(".accountant-runs"), evidence = [...basis.querySelectorAll("[data-sampling]")];
    let turn = 0, waiting;

    function show() {
      const mine = ++turn, run = read(form);
      for (const name of ["samples", "batch", "duration", "value", "delta"]) {
        form.elements[name].setAttribute("aria-invalid", String(name in run.errors));
        document.getElementById(`accountant-${name}-error`).textContent = run.errors[name] || "";
      }
      more.replaceChildren();
      if (Object.keys(run.errors).length) {
        const instead = Object.keys(run.unread).length || ["samples", "batch", "duration"].some((name) => name in run.errors) ? undefined : "value" in run.errors ? always(run) : elsewhere(run);
        const wrong = Object.keys(run.errors).map((name) => `“${form.querySelector(`label[for=accountant-${name}]`).textContent}” ${run.unread[name] ?? "is out of range"}${instead ? `. ${run.errors[name]}` : ""}`);
        answer.replaceChildren(make("p", instead ? `Refused: ${wrong.join(" ")}` : `No number yet: ${wrong.join("; ")}.`),
          ...(instead ? [make("p", instead)] : []));
        answer.setAttribute("aria-busy", "false");
        return;
      }
      const current = () => mine === turn, pieces = sought(run), { done, value } = pieces.next();
      tell(run, value, current, !done);
      if (!done) drained(pieces, current).then((found) => { if (current()) tell(run, found, current); });
    }

    /* What is known; if `busy`, while a closer bound is sought. */
    function tell(run, closer, current, busy = false) {
      answer.setAttribute("aria-busy", String(busy));
      let reply;
      try { reply = answered(run, closer); } catch (error) {
        if (!(error instanceof globalThis.accountant.Refusal)) throw error;
        reply = { head: `Refused: ${error.message}.`, lines: [`${always(run)} The library (line below) may still answer.`], asked: asked(run, run.sampling) };
      }
      if (busy) reply.lines.unshift("For now: a closer bound on the whole run is being computed, for seconds or, with a record replaced, up to a minute …");
      if (run.delta * run.samples > 0.5) reply.lines.push(`This δ is near 1/n: publishing each of the ${grouped(run.samples)} records with probability δ would show ${number(run.delta * run.samples, 2)} of them on average. ${number(smaller(run.samples), 1)} is safer.`);
      answer.replaceChildren(make("p", reply.head, "accountant-number"), ...reply.lines.map((line) => make("p", line)));
      if (busy) return;
      const plots = make("div", "", "accountant-plots");
      more.append(plots);
      if (reply.card) more.append(runs, copyable("For a model card", reply.card, "p"));
      more.append(copyable("The same in Python", python(run, reply.asked), "code"), copyable("The same as a command", command(run, reply.asked), "code"));
      for (const item of evidence) item.hidden = !item.dataset.sampling.split(" ").includes(reply.asked.sampling);
      more.append(basis);
      if (reply.epsilon > 0) curves(run, reply, current, (found) => { if (current()) plots.append(found); });
    }

    /* No number is read as one of the other kind. */
    form.elements.given.addEventListener("input", () => { form.elements.value.value = ""; });
    /* The answer for other entries goes at once; a complete entry is answered when typing pauses. */
    form.addEventListener("input", () => {
      clearTimeout(waiting);
      if (Object.keys(read(form).errors).length) { show(); return; }
      turn++;
      more.replaceChildren();
      answer.replaceChildren(make("p", "Computing …"));
      answer.setAttribute("aria-busy", "true");
      waiting = setTimeout(show, 150);
    });
    form.addEventListener("submit", (event) => { event.preventDefault(); clearTimeout(waiting); show(); });
    window.addEventListener("pageshow", show);  /* after "back" a browser fills the form again */
    form.hidden = false;
    root.dataset.ready = "";
    show();
  }

  for (const root of document.querySelectorAll(".accountant")) start(root);
})();

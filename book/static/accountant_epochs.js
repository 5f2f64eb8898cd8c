/* Many epochs of balls and bins: the law of one epoch, rounded up, composed.
   `globalThis.manyEpochs` holds what it offers, see its end; generators, so that a page can do what takes long piece by piece.

   The bounds are those of lib/dpdynamics (accounting/many_epochs.py), where they are derived: S/T is the density ratio of an
   epoch, S the sum of T independent exp(z/sigma - 1/(2 sigma^2)), z standard normal if the record is absent. Here transforms
   have powers of two, and the power of the law and the product so far are transformed together, as real and imaginary part. */
(() => {
  "use strict";

  const { between, forward, backward, mirrored, sums, keeper, falling, composedAbove } = globalThis.privacyLoss;
  const FAINTEST = 0.2, LONGEST = 1 << 18, COARSE = 1 << 14, FINENESS = [0.1, 0.35], SHARE = 1 / 2048, REACH = 8.3;

  /* More than what the transforms round of all chances of an epoch. */
  const rounding = (batches) => 1e-13 + 1e-15 * batches;

  /* The mesh of the first window and its cut; undefined if it were too long. */
  function meshOf(noise, batches) {
    if (noise < FAINTEST || batches < 2) return undefined;
    const deviation = Math.sqrt(Math.expm1(noise ** -2)), largest = Math.exp(REACH / noise + 1 / (2 * noise ** 2));
    const cut = Math.min(16 * batches, batches + 9 * Math.sqrt(batches) * deviation + largest);
    let unit = Math.min(FINENESS[0] * deviation, SHARE * batches);
    if (cut / unit > LONGEST) unit = cut / LONGEST;
    return unit <= FINENESS[1] * deviation ? { unit, cut } : undefined;
  }

  /* Why there is no bound, else nothing. */
  const refusing = (faintest, fits) => ({ noise, batches, epochs, delta }) => {
    if (batches < 2) return "an epoch has one batch";
    if (noise < faintest) return `the noise multiplier is below ${faintest}`;
    if (!fits(noise, batches)) return "an epoch has too many batches for so much noise";
    const least = 10 * epochs * rounding(batches);
    return delta < least ? `δ is below ${Number((least * 1.05).toPrecision(2))}, where rounding would decide` : "";
  };

  /* Split the mass of L in each cell between its left and right end, its mean kept. */
  function cellsOf(noise, unit, size) {
    const left = new Float64Array(size), right = new Float64Array(size);
    for (let i = 0, low = -Infinity; i < size; i++) {
      const high = noise * Math.log(unit * (i + 1)) + 1 / (2 * noise), mass = between(low, high, 0);
      right[i] = Math.max(0, Math.min(mass, between(low, high, 1 / noise) / unit - mass * i));
      left[i] = mass - right[i];
      low = high;
    }
    return [left, right];
  }

  /* The laws under P and Q of the ratio S/T of `count` terms on their mesh, each found where it is the larger one. */
  function* ratios(law, unit, count) {
    const size = law.length;
    let n = 2;
    while (n < 2 * size - 2) n *= 2;
    let x = new Float64Array(n), y = new Float64Array(n);
    x[0] = 1;
    y.set(law);
    /* Back to sequences, of which the place 2 size - 2 may have come around. */
    const cut = (x, y, first, second) => {
      backward(x, y);
      for (let i = 0; i < size; i++) { x[i] /= n; y[i] /= n; }
      if (n === 2 * size - 2) { x[0] -= first; y[0] -= second; }
      x.fill(0, size);
      y.fill(0, size);
    };
    for (let left = count - 1; left; left = Math.floor(left / 2)) {
      const odd = left % 2, more = left > 1 ? 1 : 0, [s, t] = [x[size - 1], y[size - 1]];
      forward(x, y);
      mirrored(n, (i, j) => {
        let a = (x[i] + x[j]) / 2, b = (y[i] - y[j]) / 2;
        const c = (y[i] + y[j]) / 2, d = (x[j] - x[i]) / 2;
        if (odd) { const held = a * c - b * d; b = a * d + b * c; a = held; }
        const e = more * (c * c - d * d), f = more * 2 * c * d;
        x[i] = a - f; y[i] = b + e;
        x[j] = a + f; y[j] = e - b;
      });
      cut(x, y, odd ? s * t : 0, more * t * t);
      yield;
    }
    const step = unit / count, far = x[size - 1], p = new Float64Array(n), q = new Float64Array(n);
    y.fill(0);
    forward(x, y);
    q.set(law);
    for (let i = 0; i < size; i++) p[i] = law[i] * step * i * count;
    const ends = [far * q[size - 1], far * p[size - 1]];
    forward(q, p);
    for (let i = 0; i < n; i++) [q[i], p[i]] = [q[i] * x[i] - p[i] * y[i], q[i] * y[i] + p[i] * x[i]];
    cut(q, p, ...ends);
    for (let i = 0; i < size; i++) {
      if (step * i > 1) q[i] = (p[i] = Math.max(p[i], 0)) / (step * i);
      else p[i] = (q[i] = Math.max(q[i], 0)) * step * i;
    }
    return { step, p: p.subarray(0, size), q: q.subarray(0, size) };
  }

  const windows = keeper(4), profiles = keeper(80);

  /* Windows for all levels that matter, in their order, with the sums of their laws. */
  function* windowsOf(noise, batches) {
    const { unit, cut } = meshOf(noise, batches), found = [];
    function* add(unit, cut) {
      const [left, right] = cellsOf(noise, unit, Math.floor(cut / unit) + 1);
      const { step, p, q } = yield* ratios(left.map((mass, i) => mass + (i ? right[i - 1] : 0)), unit, batches);
      const window = { step, below: [sums(p), sums(q)], above: [p, q].map((law) => sums(law.toReversed()).reverse()), last: cut / batches / 4 };
      const quiet = window.below[1].findIndex((sum, i) => i && sum >= rounding(batches)) - 1;
      window.first = Math.max(quiet, 1) * unit / batches;
      return window;
    }
    const missing = ({ above: [p] }) => 1 - p[0];
    found.push(yield* add(unit, cut));
    for (let fine = unit; found[0].below[1][Math.min(64, found[0].below[1].length - 1)] > rounding(batches);) {
      found.unshift(yield* add(fine / 64, 256 * fine));
      fine /= 64;
    }
    let reach = cut;
    while (reach >= 16 * batches && missing(found.at(-1)) > rounding(batches)) {
      reach *= 4;
      found.push(yield* add(Math.max(unit, reach / COARSE), reach));
    }
    found.at(-1).last = reach / batches;
    return found;
  }

  /* Bounds of E_Q(x - ratio)_+ and of E_Q(ratio - x)_+ at a level: what lies beyond a cut counts for P, and against Q as far as
     it exceeds rounding. */
  function profileAt(windows, batches, x) {
    const { step, below, above } = windows.find(({ last }) => x <= last) ?? windows.at(-1), size = below[0].length - 1;
    const at = Math.min(Math.floor(x / step) + 1, size), [farP, farQ] = below.map((law) => 1 - law[size] + rounding(batches));
    const sure = Math.max(farQ - 2 * rounding(batches), 0);
    return [Math.max(x * below[1][at] - below[0][at], 0) + x * (farQ - sure), Math.max(above[0][at] - x * above[1][at], 0) + farP - x * sure];
  }

  /* The loss on a mesh of a pair that dominates the epoch; if `add`, of P and Q exchanged. */
  function raised(windows, batches, add, mesh, lowest, highest) {
    const [from, to] = add ? [-highest, -lowest] : [lowest, highest], count = to - from + 1;
    const levels = Float64Array.from({ length: count }, (_, i) => Math.exp(mesh * (from + i))), steps = new Float64Array(count - 1), falls = new Float64Array(count - 1);
    let [under, over] = profileAt(windows, batches, levels[0]);
    const start = 1 - under / levels[0];
    for (let i = 0; i < count - 1; i++) {
      const [nextUnder, nextOver] = profileAt(windows, batches, levels[i + 1]);
      steps[i] = levels[i + 1] - levels[i];
      falls[i] = levels[i] < 1 ? 1 - (nextUnder - under) / steps[i] : (over - nextOver) / steps[i];
      [under, over] = [nextUnder, nextOver];
    }
    const slopes = falling(falls, steps), masses = new Float64Array(count);
    for (let i = 0, before = start; i < count; i++) {
      const here = i < count - 1 ? slopes[i] : 0, q = Math.max(before - here, 0);
      masses[add ? count - 1 - i : i] = add ? q : q * levels[i];
      before = here;
    }
    return { masses, first: lowest, base: 0, mesh };
  }

  /* A bound on the profile of all epochs, nearly the best from `delta` upwards. */
  const above = ({ noise, batches, epochs, delta, add }) => profiles([noise, batches, epochs, delta, add].join(), function* () {
    const all = yield* windows(`${noise},${batches}`, () => windowsOf(noise, batches)), ends = [Math.log(all[0].first), Math.log(all.at(-1).last)];
    if (add) ends.reverse().forEach((end, i) => { ends[i] = -end; });
    return yield* composedAbove((mesh) => raised(all, batches, add, mesh, Math.round(ends[0] / mesh) - 1, Math.round(ends[1] / mesh) + 1), ends, epochs, delta);
  });

  globalThis.manyEpochs = { refusal: refusing(FAINTEST, meshOf), above, shared: { refusing, rounding } };
})();

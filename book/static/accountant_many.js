/* Many steps on batches of fixed size: a bound that no data exceed. `globalThis.manySteps` is a generator, so that a page can
   do it piece by piece; what it returns is the profile {mesh, bounds} at 0, mesh, 2 mesh, ..., or undefined where none is known.

   The bound is that of lib/dpdynamics (accounting/many_steps.py), where it is derived. Here the window is a power of two, its
   end found with other tilts; powers are taken by logarithms; a `coarse` mesh is for plots. And what takes time: boxes are
   transformed two at a time, as real and imaginary part; and as a box that keeps a condition with some tau keeps it in every
   later round, one whose tau was found to be small is not looked at again. */
(() => {
  "use strict";

  const { forward, backward, mirrored } = globalThis.privacyLoss;
  const FEWEST = 100, NOISES = [0.7, 50], LARGEST = 1 << 17, REACH = 8.3, LOWEST = 34, SURE = 14, FINENESS = 0.12;
  const SLACKS = Array.from({ length: 15 }, (_, i) => 1e-13 * 10 ** (i / 2));
  const LEGS = [0, 0.02, 0.06, 0.12, 0.25, 0.45, 0.7, 0.95, 1.2, 1.45, 1.65, 1.8, 1.9, 1.97, 2];
  const OPENINGS = [0, 0.003, 0.01, 0.03, 0.07, 0.15, 0.3, 0.5, 0.8, 1.1, 1.4, 1.7, 1.9, 2];
  /* The distances of g and u, g and v, u and v: of the pair that spreads most, of what is largest above level 1, and below. */
  const PAIRS = { replace: [[2, 0, 2], [2, 0, 2], [2, 0, 2]], remove: [[2, 1, 1], [2, 1, 1], [1, 0, 1]], add: [[1, 2, 1], [1, 0, 1], [2, 1, 1]] };
  /* How many steps are charged at the largest: these parts of all. */
  const CHARGED = { replace: [30], remove: [30], add: [10, 2, 1] };
  const TILTS = Array.from({ length: 60 }, (_, i) => 0.05 * 400 ** (i / 59)), COARSE = 2.5;

  /* --- the normal distribution function, from a table ------------------------------------------------ */

  const CELL = 128, BOTTOM = -16, HIGH = 9;
  let table;
  function filled() {
    table = new Float64Array((HIGH - BOTTOM) * CELL + 1);
    for (let i = 0; i < table.length; i++) {
      const x = BOTTOM + i / CELL, y = Math.abs(x);
      let tail = 0;
      if (y > 3) {
        for (let k = 70; k > 0; k--) tail = k / (tail + y);
        tail = 1 / (tail + y);
      } else {
        let sum = y;
        for (let k = 3, term = y; term > 1e-17; k += 2) sum += term *= y * y / k;
        tail = 0.5 * Math.sqrt(2 * Math.PI) * Math.exp(y * y / 2) - sum;
      }
      tail *= Math.exp(-y * y / 2) / Math.sqrt(2 * Math.PI);
      table[i] = x > 0 ? 1 - tail : tail;
    }
  }

  function normal(x) {
    if (x <= BOTTOM) return 0;
    if (x >= HIGH) return 1;
    const i = Math.round((x - BOTTOM) * CELL), at = BOTTOM + i / CELL, t = x - at, s = at * at;
    return table[i] + Math.exp(-s / 2) * 0.3989422804014327 * t
      * (1 - t * (at / 2 - t * ((s - 1) / 6 - t * (at * (s - 3) / 24 - t * ((s * s - 6 * s + 3) / 120)))));
  }

  /* --- one step ----------------------------------------------------------------------------------------- */

  const evenly = (from, to, count) => Array.from({ length: count }, (_, i) => (i === count - 1 ? to : from + i * ((to - from) / (count - 1))));

  /* A triangle with these sides or a and d larger, b smaller. */
  function widened(a, b, third) {
    const d = Math.max(third, a - b);
    return [Math.max(a, d - b), Math.min(b, a + d), d];
  }

  /* Two triangles for every box: above level 1, and below, with P and Q exchanged. */
  function boxesOf(relation) {
    const found = [];
    if (relation !== "replace") {
      const sides = OPENINGS.map((opening) => Math.sqrt(4 - 2 * opening));
      for (let i = 1; i < sides.length; i++) found.push([[sides[i - 1], 1, 1], [1, sides[i], 1]]);
      return relation === "remove" ? found : found.map(([above, below]) => [below, above]);
    }
    for (let i = 1; i < LEGS.length; i++) {
      const [b1, b2] = [LEGS[i - 1], LEGS[i]], low = 2 - b2, bend = Math.sqrt(Math.max(4 - b1 * b1, 0));
      const ends = evenly(low, bend, Math.floor((bend - low) / 0.25) + 2);
      if (bend < 2) ends.push(...evenly(bend, 2, Math.floor((2 - bend) / 0.15) + 2).slice(1));
      for (let j = 1; j < ends.length; j++) {
        const [a1, a2] = [ends[j - 1], ends[j]], round = a1 * a1 + b1 * b1 >= 4 - 1e-9;
        const d = round ? 2 * Math.sin(Math.asin(Math.min(a1 / 2, 1)) + Math.asin(b1 / 2)) : 2;
        found.push([widened(a2, b1, d), widened(b2, a1, d)]);
      }
    }
    return found;
  }

  const POINTS = 800;

  /* The laws of the loss of one step on a mesh, of size 2 `last` + 1, under P. */
  class OnMesh {
    constructor(noise, share, mesh, last) {
      Object.assign(this, { noise, q: share, mesh, last, known: new Map() });
      this.wanted = Float64Array.from({ length: last + 2 }, (_, j) => Math.exp(mesh * j));
    }

    /* One profile above level 1, and below it one with P, Q exchanged. */
    masses(ahead, behind) {
      const { last, mesh, wanted } = this, up = this.side(ahead), down = this.side(behind), n = 2 * last + 1;
      const profile = new Float64Array(n + 2), decay = Math.exp(-mesh), law = new Float64Array(n);
      for (let j = 0; j < last + 2; j++) {
        profile[last + 1 + j] = up[j];
        if (j) profile[last + 1 - j] = down[j] / wanted[j] - Math.expm1(-mesh * j);
      }
      const beyond = (i) => (profile[i] - decay * profile[i + 1]) / (1 - decay);
      for (let i = 0, now = beyond(0); i < n; i++) {
        const next = beyond(i + 1);
        law[i] = now - next;
        now = next;
      }
      law[0] = 1 - beyond(1);
      law[n - 1] = beyond(n - 1);
      return law;
    }

    /* The profile at the levels, interpolated between exact values from above. */
    side(triangle) {
      const name = triangle.join();
      if (this.known.has(name)) return this.known.get(name);
      const { q, wanted } = this, highest = wanted[wanted.length - 1], [a, b, d] = triangle.map((x) => x / this.noise), foot = (a * a + d * d - b * b) / (2 * d);
      const height = Math.sqrt(Math.max(a * a - foot * foot, 0)), kinked = foot < 0.5, spare = kinked ? 1.006 : 1;
      const half = Math.floor(Math.max(21, 25 * height)) * (kinked ? 4 : 1), found = new Float64Array(wanted.length);
      const x = new Float64Array(POINTS), [gone, here, u, v, g, level, gain] = Array.from({ length: 7 }, () => new Float64Array(POINTS));
      for (let i = 0; i < POINTS; i++) {
        x[i] = i === POINTS - 1 ? -9.5 : d / 2 + i * ((-9.5 - d / 2) / (POINTS - 1));
        gone[i] = Math.exp((x[i] - foot / 2) * foot);
        here[i] = q * Math.exp((x[i] - d / 2) * d);
        u[i] = normal(x[i]); v[i] = normal(x[i] - d); g[i] = normal(x[i] - foot);
      }
      let density = 0;
      for (let k = -half; k <= half; k++) density += Math.exp(-((REACH * k / half) ** 2) / 2);
      for (let k = -half; k <= half; k++) {
        const beside = REACH * k / half, share = spare * Math.exp(-(beside ** 2) / 2) / density;
        const weight = (1 - q) * Math.exp(height * beside - height * height / 2);
        let top = 0;
        level[0] = 1;
        for (let i = 1, absent; i < POINTS; i++) {
          absent = weight * gone[i];
          level[i] = (q + absent) / (here[i] + absent);
          if (level[i] > level[top]) top = i;
          if (foot >= 0 && level[i] > highest) break;  /* it rises from there on */
        }
        for (let i = 0, back = POINTS - 1; i <= top; i++) {
          let p = u[i], r = v[i], s = g[i];
          if (foot < 0 && top < POINTS - 1 && level[i] >= level[POINTS - 1]) {  /* also left of a place the level is not exceeded */
            while (back > top + 1 && level[back - 1] < level[i]) back--;
            const slope = back > top + 1 ? (x[back - 1] - x[back]) / (level[back - 1] - level[back]) : 0;
            const left = x[back] + slope * (level[i] - level[back]);
            p -= normal(left); r -= normal(left - d); s -= normal(left - foot);
          }
          s = q * (p - level[i] * r) - weight * (level[i] - 1) * s;
          gain[i] = s > 0 ? share * s : 0;
        }
        for (let i = 0, j = 0; i < top && j < wanted.length; i++) {
          const end = level[i + 1];
          if (!(wanted[j] <= end)) continue;
          const start = level[i], first = gain[i], slope = (gain[i + 1] - first) / (end - start);
          for (; j < wanted.length && wanted[j] <= end; j++) found[j] += first + slope * (wanted[j] - start);
        }
      }
      this.known.set(name, found);
      return found;
    }
  }

  /* --- all steps ------------------------------------------------------------------------------------------ */

  /* ln (1 + z) of the transform of a real sequence, in place; mirrored to the last digit, as rounding would let real and
     imaginary parts leak. */
  function logarithms([x, y]) {
    for (let i = 0; i < x.length; i++) [x[i], y[i]] = [Math.log1p(2 * x[i] + x[i] * x[i] + y[i] * y[i]) / 2, Math.atan2(y[i], 1 + x[i])];
    mirrored(x.length, (i, j) => {
      x[i] = x[j] = (x[i] + x[j]) / 2;
      y[i] = (y[i] - y[j]) / 2;
      y[j] = -y[i];
    });
    return [x, y];
  }

  const meshes = new Map();  /* laws of a step, which runs of other lengths have too */
  function onMesh(...run) {
    const name = run.join();
    if (!meshes.has(name)) {
      if (meshes.size > 3) meshes.clear();
      meshes.set(name, new OnMesh(...run));
    }
    return meshes.get(name);
  }

  function* manySteps(relation, noise, share, steps, coarse = false) {
    if (steps < FEWEST || !(NOISES[0] <= noise && noise <= NOISES[1])) return undefined;
    const [best, ...largest] = PAIRS[relation], exchanged = [best[1], best[0], best[2]], [a, b, d] = best.map((side) => side / noise);
    const variance = Math.exp(a * a) + Math.exp(b * b) - 2 * Math.exp((a * a + b * b - d * d) / 2);  /* over share^2 */
    const mesh = FINENESS * (coarse ? COARSE : 1) * share * Math.sqrt(variance), reach = Math.max((1 / noise + REACH) * 2 / noise + Math.log(share), 1);
    if (reach / mesh > LARGEST / 4) return undefined;
    if (!table) filled();
    const one = onMesh(noise, share, mesh, Math.floor(reach / mesh) + 1), worst = one.masses(...largest);
    const top = TILTS.reduce((least, t) => {
      const sum = worst.reduce((all, mass, i) => all + mass * Math.exp(t * mesh * (i - one.last)), 0);
      return Math.min(least, (steps * Math.log(sum) + LOWEST) / t);
    }, Infinity);
    const length = Math.floor((LOWEST + top) / mesh) + 2, lowest = Math.floor(LOWEST / mesh);
    if (!(length <= LARGEST)) return undefined;
    let size = 1024;
    while (size < length) size *= 2;

    /* Up to two sequences of masses around loss 0, as one. */
    const transform = (first, second) => {
      const x = new Float64Array(size), y = new Float64Array(size);
      for (let i = 0; i < first.length; i++) {
        const at = (((i - one.last) % size) + size) % size;
        x[at] += first[i];
        if (second) y[at] += second[i];
      }
      forward(x, y);
      return [x, y];
    };
    const room = [new Float64Array(size), new Float64Array(size)];
    const times = ([a, b], [c, d]) => {
      const [x, y] = room;
      for (let i = 0; i < size; i++) { x[i] = a[i] * c[i] - b[i] * d[i]; y[i] = a[i] * d[i] + b[i] * c[i]; }
      return room;
    };
    const decay = Math.exp(-mesh), from = lowest - Math.ceil(SURE / mesh) + 1;  /* the first place above -SURE */
    /* Both profiles at the places from -lowest on. */
    const found = [new Float64Array(length), new Float64Array(length)];
    const profiles = (transforms) => {
      backward(...transforms);
      transforms.forEach((part, which) => {
        for (let i = length - 1, mass = 0, held = 0; i >= 0; i--) {
          const here = part[i < lowest ? i - lowest + size : i - lowest] / size;
          mass += here;
          held = held * decay + here;
          found[which][i] = mass - held;
        }
      });
      return found;
    };

    /* Logarithms of transforms, from transforms less one, which round less. */
    const known = (law) => logarithms(transform(law.map((mass, i) => (i === one.last ? mass - 1 : mass))));
    const law = one.masses(best, exchanged), step = transform(law), logStep = known(law), logWorst = known(worst), boxes = boxesOf(relation), pairs = [];
    const power = (charged, done) => {
      const [x, y] = logStep.map((part, i) => part.map((log, j) => (done - charged) * log + charged * logWorst[i][j]));
      for (let i = 0; i < size; i++) { const r = Math.exp(x[i]); x[i] = r * Math.cos(y[i]); y[i] = r * Math.sin(y[i]); }
      return [x, y];
    };
    for (let i = 0; i < boxes.length; i += 2) {
      pairs.push({ differences: transform(...boxes.slice(i, i + 2).map(([above, below]) => {
        const ahead = one.masses(above, exchanged), behind = one.masses(best, below);
        return ahead.map((mass, j) => mass + behind[j] - law[j]);
      })) });
      yield;
    }
    const bounds = new Float64Array(length - lowest).fill(1);
    for (const part of CHARGED[relation]) {
      const charged = Math.max(Math.floor(steps / part), 1), growth = SLACKS.map(() => -Math.log(-Math.expm1(-SURE)) * steps);
      for (const pair of pairs) pair.ratios = SLACKS.map(() => Infinity);
      for (let done = charged; done < steps;) {
        const all = power(charged, done), least = profiles(times(step, all))[0].map((x) => Math.max(x, 1e-300)), most = SLACKS.map(() => 1);
        pairs.sort((a, b) => b.ratios[0] - a.ratios[0]);
        for (const pair of pairs) {
          if (pair.ratios.every((ratio, j) => ratio <= most[j])) continue;
          const ratios = SLACKS.map(() => 1);
          for (const profile of profiles(times(pair.differences, all))) {
            for (let i = from; i < length; i++) {
              const over = profile[i] - least[i];
              for (let j = 0; j < SLACKS.length && over > SLACKS[j]; j++) {
                const ratio = (profile[i] - SLACKS[j]) / least[i];
                if (ratio > ratios[j]) ratios[j] = ratio;
              }
            }
          }
          pair.ratios = ratios;
          ratios.forEach((ratio, j) => { most[j] = Math.max(most[j], ratio); });
          yield;
        }
        const further = Math.min(done, steps - done);
        most.forEach((ratio, j) => { growth[j] += further * Math.log(ratio); });
        done += further;
      }
      const last = profiles(power(charged, steps))[0].subarray(lowest);
      SLACKS.forEach((slack, j) => {
        const factor = Math.exp(Math.min(growth[j], 700));
        for (let i = 0; i < bounds.length; i++) bounds[i] = Math.min(bounds[i], factor * (Math.max(last[i], 0) + steps * slack));
      });
      yield;
    }
    return bounds.every(Number.isFinite) ? { mesh, bounds } : undefined;
  }

  globalThis.manySteps = manySteps;
})();

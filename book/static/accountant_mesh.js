/* What the accountants of the page share: the normal law, Fourier transforms, and privacy losses on a mesh, composed and read
   off (as numerics/privacy_loss.py in lib/dpdynamics). `globalThis.privacyLoss` holds what it offers, see its end. */
(() => {
  "use strict";

  const LONGEST = 1 << 18, CELLS = 1 << 15, FINEST = 1 << 13;  /* of a window; of the mesh of all epochs, from above and below */

  /* --- the normal law ----------------------------------------------------------------------------- */

  /* P(N < x), to 1e-13 of itself. */
  function normal(x) {
    if (x > 3) return 1 - normal(-x);
    const density = Math.exp(-x * x / 2) / Math.sqrt(2 * Math.PI);
    if (x < -3) {
      let mills = 0;
      for (let k = 70; k > 0; k--) mills = k / (mills - x);
      return density / (mills - x);
    }
    let sum = x;
    for (let k = 3, term = x; Math.abs(term) > 1e-17; k += 2) sum += term *= x * x / k;
    return 0.5 + density * sum;
  }

  /* Where the normal law leaves so small a chance below. */
  function quantile(chance) {
    let [low, high] = [-38, 0];
    for (let i = 0; i < 60; i++) { const z = (low + high) / 2; if (normal(z) < chance) low = z; else high = z; }
    return low;
  }

  /* Nodes and weights of Gauss's rule on [0, 1], by Newton's method on the Legendre polynomial. */
  const GAUSS = Array.from({ length: 16 }, (_, i) => {
    let x = Math.cos(Math.PI * (i + 0.75) / 16.5), slope;
    for (let round = 0; round < 50; round++) {
      let [before, now] = [1, x];
      for (let n = 2; n <= 16; n++) [before, now] = [now, ((2 * n - 1) * x * now - (n - 1) * before) / n];
      slope = 16 * (x * now - before) / (x * x - 1);
      x -= now / slope;
    }
    return [(1 + x) / 2, 1 / ((1 - x * x) * slope * slope)];
  });

  /* The mass of the normal law around a place: a series or a quadrature if there is little, else in the smaller tail. */
  function between(low, high, place) {
    const width = high - low, start = low - place, end = high - place, middle = (start + end) / 2, square = middle * middle;
    if (width * (1 + Math.abs(middle)) < 0.01) {
      const w = width * width;
      return width * (1 + w / 24 * (square - 1 + w / 80 * (square * square - 6 * square + 3))) * Math.exp(-square / 2) / Math.sqrt(2 * Math.PI);
    }
    if (!(width < 0.5)) return start > 0 ? normal(-start) - normal(-end) : normal(end) - normal(start);
    return width * GAUSS.reduce((sum, [at, weight]) => sum + weight * Math.exp(-((start + width * at) ** 2) / 2), 0) / Math.sqrt(2 * Math.PI);
  }

  /* --- Fourier transforms without sorting ------------------------------------------------------------- */

  let turns = [new Float64Array(1), new Float64Array(1)];
  /* Cosines and sines; those of half h from place h on. */
  function turned(n) {
    if (turns[0].length < n) {
      const [cosine, sine] = turns = [new Float64Array(n), new Float64Array(n)];
      for (let half = 1; half < n; half *= 2) {
        for (let k = 0; k < half; k++) { cosine[half + k] = Math.cos(Math.PI * k / half); sine[half + k] = Math.sin(Math.PI * k / half); }
      }
    }
    return turns;
  }

  /* From natural to reversed order, two levels at a time. */
  function forward(x, y) {
    const n = x.length, [cosine, sine] = turned(n);
    let half = n >> 1;
    for (; half > 1; half >>= 2) {
      const quarter = half >> 1;
      for (let start = 0; start < n; start += 2 * half) {
        for (let k = 0, a = start, b = a + quarter, c = a + half, d = c + quarter; k < quarter; k++, a++, b++, c++, d++) {
          const c1 = cosine[half + k], s1 = sine[half + k], c2 = cosine[quarter + k], s2 = sine[quarter + k];
          let u = x[a] - x[c], v = y[a] - y[c];
          const p = x[a] + x[c], q = y[a] + y[c], r = x[b] + x[d], t = y[b] + y[d], e = u * c1 + v * s1, f = v * c1 - u * s1;
          u = x[b] - x[d]; v = y[b] - y[d];
          const g = v * c1 - u * s1, h = -u * c1 - v * s1;  /* a quarter turn further */
          x[a] = p + r; y[a] = q + t;
          u = p - r; v = q - t;
          x[b] = u * c2 + v * s2; y[b] = v * c2 - u * s2;
          x[c] = e + g; y[c] = f + h;
          u = e - g; v = f - h;
          x[d] = u * c2 + v * s2; y[d] = v * c2 - u * s2;
        }
      }
    }
    if (half === 1) pairwise(x, y);
  }

  /* From reversed to natural order, n times the inverse. */
  function backward(x, y) {
    const n = x.length, [cosine, sine] = turned(n);
    let quarter = 1;
    if (Math.log2(n) % 2) { pairwise(x, y); quarter = 2; }
    for (; quarter < n; quarter *= 4) {
      const half = 2 * quarter;
      for (let start = 0; start < n; start += 2 * half) {
        for (let k = 0, a = start, b = a + quarter, c = a + half, d = c + quarter; k < quarter; k++, a++, b++, c++, d++) {
          const c1 = cosine[half + k], s1 = sine[half + k], c2 = cosine[quarter + k], s2 = sine[quarter + k];
          const bx = x[b] * c2 - y[b] * s2, by = y[b] * c2 + x[b] * s2, dx = x[d] * c2 - y[d] * s2, dy = y[d] * c2 + x[d] * s2;
          const p = x[a] + bx, q = y[a] + by, r = x[a] - bx, t = y[a] - by;
          let u = x[c] + dx, v = y[c] + dy;
          const e = u * c1 - v * s1, f = v * c1 + u * s1;
          u = x[c] - dx; v = y[c] - dy;
          const g = -v * c1 - u * s1, h = u * c1 - v * s1;  /* a quarter turn further */
          x[a] = p + e; y[a] = q + f;
          x[c] = p - e; y[c] = q - f;
          x[b] = r + g; y[b] = t + h;
          x[d] = r - g; y[d] = t - h;
        }
      }
    }
  }

  function pairwise(x, y) {
    for (let i = 0; i < x.length; i += 2) {
      const u = x[i + 1], v = y[i + 1];
      x[i + 1] = x[i] - u; y[i + 1] = y[i] - v;
      x[i] += u; y[i] += v;
    }
  }

  /* The places of a transform of a real sequence come in conjugate pairs, in reversed order mirrored within each [h, 2h). */
  function mirrored(n, visit) {
    visit(0, 0);
    visit(1, 1);
    for (let h = 2; h < n; h *= 2) for (let i = h, j = 2 * h - 1; i < j; i++, j--) visit(i, j);
  }

  /* --- privacy losses ------------------------------------------------------------------------------ */

  const TILTS = Array.from({ length: 40 }, (_, i) => 0.02 * 2500 ** (i / 39));

  /* Two losses of so many releases with exp(-depth) outside of each at most: Chernoff's bounds. One release has the losses
     base + j mesh, j = first, first + 1, ... */
  function tails({ masses, first, base, mesh }, times, depth) {
    const losses = [], logs = [];
    masses.forEach((mass, j) => { if (mass > 0) { losses.push(base + mesh * (first + j)); logs.push(Math.log(mass)); } });
    const logMgf = (t) => {
      let most = -Infinity, sum = 0;
      for (let j = 0; j < logs.length; j++) most = Math.max(most, logs[j] + t * losses[j]);
      for (let j = 0; j < logs.length; j++) sum += Math.exp(logs[j] + t * losses[j] - most);
      return most + Math.log(sum);
    };
    const all = logMgf(0), mean = losses.reduce((sum, x, j) => sum + x * Math.exp(logs[j] - all), 0);
    const spread = Math.sqrt(times * losses.reduce((sum, x, j) => sum + (x - mean) ** 2 * Math.exp(logs[j] - all), 0)) + 1e-12;
    const far = (sign) => Math.min(...TILTS.map((tilt) => (times * (logMgf(sign * tilt / spread) - all) + depth) / (tilt / spread)));
    return [-far(-1), far(1)];
  }

  /* Profiles of so many releases at the losses `top`, `top` - mesh, ..., down to 0, for one or two laws of a release at once;
     what is outside of low and high reappears. */
  function composed(laws, { first, base, mesh }, times, low, high) {
    let size = 1024;
    while (size < Math.ceil((high - low) / mesh) + 3) size *= 2;
    const parts = [new Float64Array(size), new Float64Array(size)], [x, y] = parts, wrapped = (j) => ((j % size) + size) % size;
    laws.forEach((law, which) => law.forEach((mass, j) => { parts[which][wrapped(first + j)] += mass; }));
    forward(x, y);
    const power = (x, y) => {
      let re = 1, im = 0;
      for (let left = times; left; left = Math.floor(left / 2)) {
        if (left % 2) [re, im] = [re * x - im * y, re * y + im * x];
        [x, y] = [x * x - y * y, 2 * x * y];
      }
      return [re, im];
    };
    /* The transform of the first is Hermitian, that of i times the second is not. */
    mirrored(size, (i, j) => {
      const [a, b] = power((x[i] + x[j]) / 2, (y[i] - y[j]) / 2), [c, d] = laws[1] ? power((y[i] + y[j]) / 2, (x[j] - x[i]) / 2) : [0, 0];
      x[i] = a - d; y[i] = b + c;
      x[j] = a + d; y[j] = c - b;
    });
    backward(x, y);
    const last = Math.floor((low - times * base) / mesh) + size - 1, decay = Math.exp(-mesh);
    const profiles = laws.map((_, which) => {
      const found = new Float64Array(Math.min(size, Math.max(Math.ceil((times * base + last * mesh) / mesh), 0) + 2));
      for (let i = 0, mass = 0, held = 0; i < found.length; i++) {
        const here = parts[which][wrapped(last - i)] / size;
        mass += here;
        held = held * decay + here;
        found[i] = mass - held;
      }
      return found;
    });
    return { top: times * base + last * mesh, mesh, profiles };
  }

  /* Where a profile, linear in exp(epsilon) between its points, falls to delta; infinite if it does not. */
  function fallsTo({ top, mesh, profile }, delta) {
    const at = profile.findIndex((x) => x > delta);
    if (at <= 0) return at ? 0 : Infinity;
    return Math.max(0, top - at * mesh + Math.log1p((profile[at] - delta) / (profile[at] - profile[at - 1]) * Math.expm1(mesh)));
  }

  /* A profile at epsilon, NaN below its window. */
  function profileAt({ top, mesh, profile }, epsilon) {
    const at = Math.floor((top - epsilon) / mesh), next = profile[at + 1];
    return at < 0 ? profile[0] : next + (profile[at] - next) * Math.expm1(epsilon - top + (at + 1) * mesh) / Math.expm1(mesh);
  }

  /* A release whose profile is nowhere larger: from the top down outcomes are gathered until their common loss is on the
     mesh. Of cells between its points it has the masses of P and Q. */
  function lowered({ first, base, p, q }, mesh) {
    const law = new Float64Array(p.length + 1);
    let surplus = 0, at = 0, ratio = 1;
    for (let j = p.length - 1; j >= 0; j--) {
      let share = 0;
      if (surplus > 0) {
        const gain = p[j] - ratio * q[j];
        share = surplus + gain >= 0 ? 1 : surplus / -gain;
        law[at] += share * p[j];
        surplus += share * gain;
        if (share === 1) continue;
      }
      at = j;
      ratio = Math.exp(base + (first + j) * mesh);
      law[at] += (1 - share) * p[j];
      surplus = Math.max(0, (1 - share) * (p[j] - ratio * q[j]));
    }
    return law;
  }

  /* Sums from the first on, without the rounding of many additions. */
  function sums(values) {
    const found = new Float64Array(values.length + 1);
    for (let i = 0, sum = 0, lost = 0; i < values.length; i++) {
      const next = values[i] - lost, total = sum + next;
      lost = total - sum - next;
      found[i + 1] = sum = total;
    }
    return found;
  }

  /* --- many epochs ----------------------------------------------------------------------------------- */

  /* Keeps so many results by name. */
  const keeper = (most) => {
    const kept = new Map();
    return function* (name, compute) {
      if (!kept.has(name)) {
        const found = yield* compute();
        if (kept.size >= most) kept.clear();
        kept.set(name, found);
      }
      return kept.get(name);
    };
  };
  /* The nearest sequence that does not increase, by weights: neighbours that do are pooled. */
  function falling(values, weights) {
    const ends = [], means = [], masses = [];
    for (let i = 0; i < values.length; i++) {
      let mean = values[i], mass = weights[i];
      while (means.length && means.at(-1) < mean) {
        const more = masses.pop();
        mean = (mean * mass + means.pop() * more) / (mass + more);
        mass += more;
        ends.pop();
      }
      means.push(mean);
      masses.push(mass);
      ends.push(i + 1);
    }
    const found = new Float64Array(values.length);
    ends.forEach((end, k) => found.fill(means[k], k ? ends[k - 1] : 0, end));
    return found;
  }

  /* A bound on the profile of all epochs, nearly the best from `delta` upwards; the law of one on any mesh has its losses between
     the ends. Generators, so that a page can do what takes long piece by piece. */
  function* composedAbove(law, ends, epochs, delta) {
    const share = 1e-6 * delta, far = tails(law((ends[1] - ends[0]) / 4096), epochs, -Math.log(share));
    yield;
    const [low, high] = [Math.min(far[0], 0), Math.max(far[1], 0)], one = law((high - low) / CELLS);
    const { top, mesh, profiles: [profile] } = composed([one.masses], one, epochs, low, high);
    const lost = share + epochs * Math.max(1 - sums(one.masses).at(-1), 0) + 1e-13 + 1e-15 * epochs;
    yield;
    return { top, mesh, profile: profile.map((x) => x + lost) };
  }

  /* The same from below, or undefined, of an epoch with these chances of outcomes under P and Q. */
  function* composedBelow([p, q], epochs, delta, finest) {
    const losses = p.map((mass, i) => Math.log(mass) - Math.log(Math.max(q[i], 1e-300))), some = losses.map((_, i) => i).filter((i) => p[i] > 1e-6 * delta / epochs / p.length);
    const least = some.reduce((x, i) => Math.min(x, losses[i]), Infinity), range = some.reduce((x, i) => Math.max(x, losses[i]), -Infinity) - least;
    if (!(range >= 1e-9)) return undefined;
    for (let cells = finest; ; cells /= 2) {
      const mesh = range / cells, first = Math.floor(least / mesh), one = { p: new Float64Array(cells + 2), q: new Float64Array(cells + 2), first, base: 0 };
      for (const i of some) {
        const at = Math.floor(losses[i] / mesh) - first;
        one.p[at] += p[i];
        one.q[at] += q[i];
      }
      /* What leaves the window above reappears below, which lowers losses. */
      const law = { masses: lowered(one, mesh), first, base: 0, mesh }, [low, high] = tails(law, epochs, Math.log(1e6) - Math.log(delta));
      yield;
      if (high - low > LONGEST * mesh && cells > 32) continue;
      const { top, profiles: [profile] } = composed([law.masses], law, epochs, low, high);
      yield;
      return { top, mesh, profile: profile.map((x) => x - (2e-6 * delta + 1e-13 + 1e-15 * epochs)) };
    }
  }

  globalThis.privacyLoss = { GAUSS, normal, quantile, between, forward, backward, mirrored, tails, lowered, composed, fallsTo, profileAt, sums, keeper, falling, composedAbove, composedBelow, FINEST };
})();

/* What an attacker proves who boils an epoch down to one outcome. `globalThis.epochAttacks` holds what it offers, see its end; a
   generator, so that a page can do what takes long piece by piece.

   The outcome is that of lib/dpdynamics (accounting/epoch_attacks.py), where it is derived: a sum over the releases, modulo a
   window, or the largest one above a cut. Here windows have powers of two, the mesh of releases is half as fine, and as these
   transforms round more, more is charged. */
(() => {
  "use strict";

  const { between, normal, quantile, forward, backward, keeper, composedBelow, FINEST } = globalThis.privacyLoss;
  /* Reach of normal laws; chance of an epoch with a release above the cut, unless delta may be reached in a window so long, and the longest. */
  const ENDS = 9, RARE = 3e-4, WANTED = 1 << 16, LONGEST = 1 << 18;
  /* The mesh, in deviations of f; the window, in those of the sum; with more in one cell the mesh tells little; what is charged. */
  const FINENESS = 0.05, WIDTH = 24, ATOM = 0.9, CHARGED = (batches) => 2.2e-16 * (2000 + 300 * batches), FAINT = 100;
  const profiles = keeper(40);

  /* The largest release above a cut, in cells: its chances with the record's batch at each place. */
  function largest(cut, batches, present, shifts) {
    const end = Math.max(cut, ...shifts) + ENDS, below = (z) => (z > 0 ? Math.log1p(-normal(-z)) : Math.log(normal(z))), found = [[], []];
    for (let i = 0, last; i <= 4096; i++) {
      const z = cut + i * (end - cut) / 4095, quiet = below(z), logs = [batches * quiet, ...shifts.map((a) => (batches - 1) * quiet + below(z - a))].map((log) => (i === 4096 ? 0 : log));
      const [away, ...loud] = logs.map((log, k) => i && (Math.exp(log) < 0.5 ? Math.exp(log) - Math.exp(last[k]) : Math.expm1(log) - Math.expm1(last[k])));
      if (i) loud.forEach((mass, k) => found[k].push(present * mass + (1 - present) * away));
      last = logs;
    }
    return found;
  }

  /* Where an attacker looks: at the sum of f, the difference of the likelihood ratios of both places, up to a cut, modulo a window
     of `size` points. The masses of a quiet release and of those at both places; undefined if f does not vary in floats. */
  function looks({ batches, delta, coarse }, shifts) {
    for (const rare of [Math.min(delta, RARE), RARE]) {
      const cut = -quantile(Math.max(rare / batches, 1e-19)), from = Math.min(...shifts) < 0 ? -cut : -ENDS, points = coarse ? 1 << 13 : 1 << 15;
      const f = new Float64Array(points), masses = [0, ...shifts].map(() => new Float64Array(points));
      let mean = 0, square = 0, mass = 0, least = Infinity, most = -Infinity;
      for (let i = 0, low = -Infinity; i < points; i++) {
        const high = from + i * (cut - from) / (points - 1), z = i ? (low + high) / 2 : high, [a, b] = shifts.map((s) => Math.exp(s * (z - s / 2)));
        f[i] = a - b;
        [0, ...shifts].forEach((s, k) => { masses[k][i] = between(low, high, s); });
        mass += masses[0][i]; mean += masses[0][i] * f[i]; square += masses[0][i] * f[i] ** 2;
        least = Math.min(least, f[i]); most = Math.max(most, f[i]);
        low = high;
      }
      mean /= mass;
      const deviation = Math.sqrt(square - mass * mean * mean), reach = WIDTH * Math.sqrt(batches) * deviation + most - least, wanted = (coarse ? 2 : 1) * FINENESS * deviation;
      if (!(deviation > 1e-150)) return undefined;
      if (rare === RARE || reach < WANTED * wanted) {
        const unit = Math.max(wanted, reach / (LONGEST - 4));
        let size = 2;
        while (size < reach / unit + 2) size *= 2;
        return { cut, size, masses, places: f.map((x) => ((Math.round((x - mean) / unit) % size) + size) % size) };
      }
    }
  }

  /* The chances of what the attacker sees, those of P less and of Q more than what is rounded (accounting/epoch_attacks.py). */
  function* seenBy(run) {
    const { noise, batches, present, places } = run, shifts = places.map((place) => place / noise), look = looks(run, shifts);
    yield;
    if (!look) return undefined;
    const { size, masses: [quiet, ...loud] } = look, [x, y, u, v] = [0, 1, 2, 3].map(() => new Float64Array(size));
    look.places.forEach((at, i) => {
      x[at] += quiet[i];
      u[at] += present * loud[0][i] + (1 - present) * quiet[i];
      v[at] += present * loud[1][i] + (1 - present) * quiet[i];
    });
    if (x.some((mass) => mass > ATOM)) return undefined;
    forward(x, y);
    forward(u, v);
    for (let i = 0; i < size; i++) {
      const r = Math.hypot(x[i], y[i]) ** (batches - 1), turn = Math.atan2(y[i], x[i]) * (batches - 1), a = r * Math.cos(turn), b = r * Math.sin(turn);
      [u[i], v[i]] = [a * u[i] - b * v[i], a * v[i] + b * u[i]];
    }
    backward(u, v);
    yield;
    const above = largest(look.cut, batches, present, shifts), [p, q] = [u, v].map((part, k) => [...part.map((sum) => sum / size), ...above[k]]);
    const norm = Math.sqrt(Math.max(...[p, q].map((law) => law.reduce((sum, mass, i) => (i < size ? sum + mass * mass : sum), 0))));
    const off = CHARGED(batches) * norm / Math.sqrt(size), top = p.indexOf(p.reduce((most, mass) => Math.max(most, mass), 0)), found = [[], []];
    let [lostP, lostQ] = [0, 0];
    p.forEach((mass, i) => { if (Math.max(mass, q[i]) < FAINT * off) { lostP += mass - off; lostQ += q[i] + off; } });
    p[top] += lostP;
    q[top] += lostQ;
    p.forEach((mass, i) => { if (mass > off && Math.max(mass, q[i]) >= FAINT * off) { found[0].push(mass - off); found[1].push(q[i] + off); } });
    return found;
  }

  /* A bound from below on the profile of all epochs, nearly the best from `delta` upwards, or undefined: the record's batch at one
     place under P, at the other under Q; `present` is the chance that the record takes part in an epoch. */
  const below = (run) => profiles([run.noise, run.batches, run.epochs, run.delta, run.places, run.present, run.coarse].join(), function* () {
    const found = yield* seenBy(run);
    return found && (yield* composedBelow(found, run.epochs, run.delta, run.coarse ? FINEST / 2 : 2 * FINEST));
  });

  globalThis.epochAttacks = { below };
})();

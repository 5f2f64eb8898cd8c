/* Epochs of balls and bins, a record replaced: the profile of one, level by level, from above and from below, and many.
   `globalThis.replacedEpochs` holds what it offers, see its end; generators, as accountant_epochs.js, whose parts it uses.

   The bounds are those of lib/dpdynamics (accounting/bins_replaced.py), where they are derived: at a level the profile is the mean
   of (sum of X)_+ / T, X = exp(z/sigma - 1/(2 sigma^2)) - level exp(-z/sigma - 1/(2 sigma^2)), z standard normal. Here transforms
   have powers of two, and the laws from below and from above are transformed together, as real and imaginary part. */
(() => {
  "use strict";

  const { between, forward, backward, mirrored, sums, keeper, falling, composedAbove, composedBelow, FINEST } = globalThis.privacyLoss;
  const { refusing, rounding } = globalThis.manyEpochs.shared;
  const FAINTEST = 0.5, LONGEST = 1 << 15, FINENESS = [0.1, 0.35], SHARE = 1 / 2048, SWING = [9, 8], STEP = 0.1, NOISE = 1e-16, LEFT = 1e-4, KEPT = 1e-11, CLOSE = 1e-8;
  const TILTS = Array.from({ length: 12 }, (_, i) => 0.3 * 200 ** (i / 11));
  const total = (values) => sums(values).at(-1);

  /* The mesh of X less 1 - level, and the ends of the window in its units. */
  function windowOf(noise, batches, level, coarse) {
    const deviation = Math.sqrt(Math.expm1(noise ** -2)) * Math.hypot(1, level);
    const swing = Math.min(SWING[0] * Math.sqrt(batches) * deviation, SWING[1] * level * batches), length = 2 * swing + batches * (level - 1);
    const wanted = Math.min(FINENESS[0] * Math.min(1, noise * noise) * deviation, (1 + level) * batches * SHARE);
    const unit = (coarse ? 2 : 1) * Math.max(wanted, length / LONGEST);
    return [unit, -Math.ceil(swing / unit), Math.ceil((length - swing) / unit)];
  }

  const refusal = refusing(FAINTEST, (noise, batches) => windowOf(noise, batches, 1, false)[0] <= FINENESS[1] * Math.sqrt(2 * Math.expm1(noise ** -2)));

  /* Mass and moment of X - mean in the cells between the places x, and beyond. */
  function cellsOf(noise, level, mean, x) {
    const mass = new Float64Array(x.length + 1), moment = new Float64Array(x.length + 1);
    for (let i = 0, low = -Infinity; i <= x.length; i++) {
      const half = (mean + x[i]) * Math.exp(1 / (2 * noise * noise)) / 2, larger = Math.abs(half) + Math.hypot(half, Math.sqrt(level));
      const high = i === x.length ? Infinity : noise * (half > 0 ? Math.log(larger) : Math.log(level) - Math.log(larger));
      mass[i] = between(low, high, 0);
      moment[i] = between(low, high, 1 / noise) - level * between(low, high, -1 / noise) - mean * mass[i];
      low = high;
    }
    return [mass, moment];
  }

  /* Merge the law in these cells on their ends, or undefined: of E(x - L)_+ so much is taken off that its interpolation stays below,
     at both ends of a cell, or where masses fall fast, or end, at the end next to the larger ones alone. */
  function gathered(left, right) {
    const size = left.length, mass = left.map((m, i) => m + right[i]), top = mass.indexOf(mass.reduce((most, m) => Math.max(most, m), 0));
    const spread = new Float64Array(size + 1), off = new Float64Array(size + 1);
    mass.forEach((m, i) => {
      spread[i] += left[i];
      spread[i + 1] += right[i];
      const gap = left[i] * right[i] / Math.max(m, 1e-300), ends = i > size - 3;
      const rises = i < 2 || !ends && i < top && m > 2 * mass[i - 1], falls = !rises && (ends || i >= top && m > 2 * mass[i + 1]);
      off[i] = Math.max(off[i], falls ? right[i] : rises ? 0 : gap);
      off[i + 1] = rises ? left[i] : falls ? 0 : gap;
    });
    const law = spread.map((mass, i) => mass - ((off[i + 1] ?? 0) - 2 * off[i] + (off[i - 1] ?? 0)));
    const mode = law.indexOf(law.reduce((most, mass) => Math.max(most, mass), 0));
    law.set(convex(law.slice(0, mode + 1)));
    law.set(convex(law.slice(mode).reverse()).reverse(), mode);
    law.forEach((mass, i) => { law[i] = Math.max(mass, 0); });
    const mean = (part) => sums(part.map((mass, i) => mass * i)).at(-1);
    return Math.abs(sums(law).at(-1) / sums(spread).at(-1) - 1) < 1e-13 && Math.abs(mean(law) / mean(spread) - 1) < KEPT ? law : undefined;
  }

  /* Make what is left of E(x - L)_+ convex; the last chance takes what is missing of the sum. */
  function convex(law) {
    const slopes = sums(law).slice(1), last = law.length - 1, raised = falling(slopes.subarray(0, -1).map((x) => -x), slopes.map(() => 1)).map((x) => -x);
    return law.map((mass, i) => {
      const before = i ? raised[i - 1] : 0, after = i < last ? raised[i] : slopes[last];
      return i && before !== slopes[i - 1] || i < last && after !== slopes[i] ? after - before : mass;
    });
  }

  /* Bounds of E(sum of X)_+ / T from below and from above. */
  function excess(noise, batches, level, coarse) {
    const [unit, low, high] = windowOf(noise, batches, level, coarse), mean = 1 - level, size = high - low + 1, zero = -low;
    const x = new Float64Array(size).map((_, i) => unit * (low + i)), end = x[size - 1], [mass, moment] = cellsOf(noise, level, mean, x);
    const inside = mass.subarray(1, size), right = inside.map((m, i) => Math.max(0, Math.min(m, (moment[i + 1] - m * x[i]) / unit))), left = inside.map((m, i) => m - right[i]);
    const spread = new Float64Array(size), merged = gathered(left, right);
    spread.set(left);
    right.forEach((m, i) => { spread[i + 1] += m; });
    spread[0] += mass[0];
    spread[size - 1] += mass[size];
    const kept = total(inside), rest = (batches - 1) * (total(moment.subarray(1, size)) / kept + mean), jump = moment[size] + mass[size] * (mean + rest);
    const sides = [merged && { law: merged, extra: batches * kept ** (batches - 1) * Math.max(jump, 0) },
      { law: spread, above: true, extra: batches * Math.max(moment[size] - mass[size] * end, 0) }].map((side) => side && tilted(side));

    /* The law, tilted to where the least is known of the mean sought. */
    function tilted(side) {
      const { law } = side;
      let best = Infinity;
      for (const tilt of TILTS.map((t) => t / -x[0])) {
        const decay = Math.exp(-tilt * unit);
        let sum = 0;
        for (let i = 0; i < size; i++) sum = sum * decay + law[i];
        const logMgf = Math.log(sum) + tilt * end;
        if (logMgf + tilt * mean < best) { best = logMgf + tilt * mean; Object.assign(side, { tilt, logMgf }); }
      }
      return Object.assign(side, { law: law.map((m, i) => m * Math.exp(side.tilt * x[i] - side.logMgf)), fading: Math.exp(-side.tilt * unit), lost: rounding(batches) });
    }

    let n = 2;
    while (n < 2 * size - 1) n *= 2;
    const transformed = (laws) => {
      const pair = laws.map((law) => { const all = new Float64Array(n); if (law) all.set(law); return all; });
      forward(...pair);
      return pair;
    };
    /* The tilted laws of so many terms in the window, that of the product of transforms; such sums occur so many times. */
    function convolved([x0, y0], [u, v], terms, times) {
      mirrored(n, (i, j) => {
        const a = (x0[i] + x0[j]) / 2, b = (y0[i] - y0[j]) / 2, c = (y0[i] + y0[j]) / 2, d = (x0[j] - x0[i]) / 2;
        const e = (u[i] + u[j]) / 2, f = (v[i] - v[j]) / 2, g = (v[i] + v[j]) / 2, h = (u[j] - u[i]) / 2;
        const p = a * e - b * f, q = a * f + b * e, r = c * g - d * h, s = c * h + d * g;
        x0[i] = p - s; y0[i] = q + r;
        x0[j] = p + s; y0[j] = r - q;
      });
      backward(x0, y0);
      return sides.map((side, which) => {
        if (!side) return undefined;
        const whole = which ? y0 : x0, law = new Float64Array(size);
        let beyond = 0, excess = 0, fade = 1;
        for (let i = 0; i < 2 * size - 1; i++) {
          const m = Math.max(whole[i] / n, 0), at = i - zero;
          if (at >= 0 && at < size) { law[at] = m; continue; }
          if (at < 0 || m <= NOISE) side.lost += times * m;
          if (at < 0) continue;
          fade *= side.fading;
          if (m > NOISE) { beyond += m * fade; excess += m * fade * (at - size + 1); }
        }
        law[size - 1] += beyond;
        if (side.above) side.extra += times * unit * excess * Math.exp(terms * side.logMgf - side.tilt * end);
        return law;
      });
    }

    let all, laws = sides.map((side) => side?.law);
    for (let left = batches, terms = 1; left;) {
      const odd = left % 2, first = odd && !all;
      left = Math.floor(left / 2);
      const transform = (left || !first) && transformed(laws);
      if (odd) all = first ? laws : convolved(transformed(all), transform, batches % (2 * terms), 1);
      if (!left) break;
      terms *= 2;
      laws = convolved(transform, transform.map((part) => part.slice()), terms, Math.floor(batches / terms));
    }
    return sides.map((side, which) => {
      if (!side) return 0;
      const margin = side.lost * Math.exp(batches * (side.logMgf + side.tilt * mean) - 1) / side.tilt;
      const found = all[which].reduce((sum, m, i) => {
        const value = batches * mean + x[i];
        return value > 0 ? sum + m * value * Math.exp(batches * side.logMgf - side.tilt * x[i]) : sum;
      }, 0) + side.extra;
      return (side.above ? found * (1 + CLOSE) + margin : Math.max(found * (1 - CLOSE) - margin, 0)) / batches;
    });
  }

  const known = keeper(4), profiles = keeper(80);

  /* Bounds of the profile of an epoch at levels from 1 on, up to one where it is `least`: [level, from below, from above]. */
  function* profileOf(noise, batches, least, coarse) {
    const deviation = Math.sqrt(Math.log1p(2 * (Math.exp(noise ** -2) - Math.exp(-(noise ** -2))) / batches)), step = (coarse ? 2 : 1) * STEP * Math.min(deviation, 2.5);
    const found = yield* known([noise, batches, coarse].join(), function* () { return []; });
    let end = 0;
    for (let i = 0, loss = 0, smallest = 1; smallest > least && (!i || found[i - 1][2] < 4 * smallest); i++) {
      if (i === found.length) {
        const [below, above] = excess(noise, batches, Math.exp(loss), coarse);
        found.push([Math.exp(loss), Math.min(below, above), above]);
        yield;
      }
      if (!i || found[i][2] < smallest) end = i + 1;
      smallest = Math.min(smallest, found[i][2]);
      loss += step * Math.max(1, loss / (4 * deviation));
    }
    return found.slice(0, end);
  }

  /* Levels, and values whose interpolation is below the profile, up to its zero: below the chord by the height of a triangle at most,
     between the lines through an end and what is known of a level before or after it. */
  function minorant(profile) {
    const rise = (i) => profile.slice(i + 1).reduce((most, [level, , above]) => Math.max(most, (profile[i][1] - above) / (level - profile[i][0])), 0);
    const flat = profile.map((_, i) => rise(i)), gaps = [];
    for (let i = 0; i + 1 < profile.length; i++) {
      const [level, value] = profile[i], width = profile[i + 1][0] - level, chord = (value - profile[i + 1][1]) / width;
      const steep = profile.slice(0, i).reduce((least, [before, , above]) => Math.min(least, (above - value) / (level - before)), (1 - profile[0][1]) / 2);
      gaps.push(width * Math.max(steep - chord, 0) * Math.max(chord - flat[i + 1], 0) / Math.max(steep - flat[i + 1], 1e-300));
    }
    const values = profile.map(([, value], i) => value - Math.max(gaps[i] ?? 0, gaps[i - 1] ?? 0));
    values.push(Math.min(values.pop(), 0));
    const end = values.findIndex((value) => value <= 0), levels = profile.map(([level]) => level);
    if (!end) return [[], []];
    const zero = levels[end - 1] + (levels[end] - levels[end - 1]) * values[end - 1] / (values[end - 1] - values[end]);
    return [[...levels.slice(0, end), zero], [...values.slice(0, end), 0]];
  }

  /* The chances under P and Q of the losses above 0 of the pair with this profile, made convex. */
  function kinks(levels, values) {
    const widths = levels.slice(1).map((level, i) => level - levels[i]), falls = falling(widths.map((width, i) => (values[i] - values[i + 1]) / width), widths);
    const q = Array.from(falls, (fall, i) => fall - (falls[i + 1] ?? 0));
    return [q.map((chance, i) => chance * levels[i + 1]), q];
  }

  /* Losses on a mesh such that P and Q keep their masses. */
  function roundedUp(losses, masses, mesh) {
    const first = Math.floor(losses[0] / mesh), law = new Float64Array(Math.floor(losses.at(-1) / mesh) - first + 2);
    losses.forEach((loss, i) => {
      const at = Math.floor(loss / mesh), right = Math.min(Math.expm1(-Math.max(loss - mesh * at, 0)) / Math.expm1(-mesh), 1) * masses[i];
      law[at - first] += masses[i] - right;
      law[at - first + 1] += right;
    });
    return { masses: law, first, base: 0, mesh };
  }

  /* A bound on the profile of all epochs, nearly the best from `delta` upwards. At level 1 the profile h, being convex and of a
     symmetric pair, has 1 - h(1) >= 2 (h(1) - h(level)) / (level - 1) for every level. */
  const above = ({ noise, batches, epochs, delta, coarse = false }) => profiles([noise, batches, epochs, delta, coarse].join(), function* () {
    const profile = yield* profileOf(noise, batches, LEFT * delta / epochs, coarse), levels = profile.map(([level]) => level), values = profile.map(([, , most]) => most);
    for (let i = 1; i < levels.length; i++) values[0] = Math.min(values[0], (levels[i] - 1 + 2 * values[i]) / (levels[i] + 1));
    const [p, q] = kinks(levels, values), rest = 1 - total(p) - total(q) - values.at(-1), logs = levels.slice(1).map(Math.log);
    const all = [...q.map((mass, i) => [-logs[i], mass]).reverse(), [0, rest], ...p.map((mass, i) => [logs[i], mass])].filter(([, mass]) => mass > 1e-18);
    const [losses, masses] = [0, 1].map((k) => all.map((pair) => pair[k]));
    return yield* composedAbove((mesh) => roundedUp(losses, masses, mesh), [losses[0], losses.at(-1)], epochs, delta);
  });

  /* A bound from below on the profile of all epochs, nearly the best from `delta` upwards, or undefined. */
  const below = ({ noise, batches, epochs, delta, coarse = false }) => profiles([noise, batches, epochs, delta, coarse, "below"].join(), function* () {
    const profile = yield* profileOf(noise, batches, LEFT * delta / epochs, coarse), last = profile.length - 1;
    const [levels, values] = minorant(profile.filter(([, low], i) => low > 0 || i === last));
    if (levels.length < 2) return undefined;
    const [p, q] = kinks(levels, values), rest = 1 - total(p) - total(q), all = [...p.map((mass, i) => [mass, q[i]]), [rest, rest], ...q.map((mass, i) => [mass, p[i]])];
    if (rest < 0) return undefined;
    const seen = all.filter((chances) => Math.min(...chances) > 0);
    return yield* composedBelow([0, 1].map((k) => seen.map((chances) => chances[k])), epochs, delta, coarse ? FINEST / 4 : FINEST);
  });

  globalThis.replacedEpochs = { refusal, above, below };
})();

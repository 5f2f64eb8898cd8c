/* The accountant of Poisson sampling in plain JavaScript: exact epsilon, delta and noise multiplier of composed
   Gaussian releases. No dependency, no page; `globalThis.accountant` holds what it offers, see its end.

   The route is that of lib/dpdynamics (accounting/gaussian_pair.py, numerics/inversion.py), where it is derived.
   With L = ln(dP/dQ) the privacy loss of one step and M(z) = E_P exp(zL), after k steps and for any c > 0

     delta(eps) = 1/(2 pi i) int_{c - i inf}^{c + i inf} M(z)^k exp(-eps z) / (z (z + 1)) dz .

   The line goes through the saddle point, so that a small delta keeps its relative accuracy. What decides accuracy:

   * M by the trapezoidal rule in u, the noise in units of its standard deviation. The integrand is analytic in a strip
     of half-width pi sigma, where w(u) = 1 - q + q exp((u - 1/(2 sigma))/sigma) has its zeros. Nodes 2 pi/D apart alias
     by exp(-y D) at height y in the strip, where the Gaussian has grown by exp(y^2/2): D = 8.7 makes exp(-D^2/2) =
     4e-17, and 11.5/sigma more, at y = pi sigma, exp(-11.5 pi) = 2e-16. The factor exp(itL) oscillates with t |dL/du|;
     1.1 times that is added to D.
   * The range of u ends where the integrand is exp(-44) = 8e-20 of its maximum, for z = 0 and z = c. Outcomes that P
     sees with probability 1e-10 delta at most are left out: delta falls by no more, and that is 1e-10 of it.
   * The sum over the line with step 2 pi/D is sum_m delta(eps + m D) exp(c m D). D is so large that the images m != 0
     are below exp(-28) = 7e-13 of the term m = 0 by Chernoff's bound, or known and taken off (`Line.logDelta`).
   * The line ends where the last eighth of its terms, times their number, is below 1e-13 of the largest.
   * Batches of fixed size: the laws of accounting/without_replacement.py, by Gauss-Legendre panels, see there. Where a
     step without loss leaves more than 1e-12 of M^k far up the line, a guaranteed value takes the place of the exact one.
   * Nothing rests on these numbers alone: everything is computed again on a longer, finer line until two values agree
     to 1e-8 of max(eps, 1/c), 1/c being the distance in which delta falls by a factor e. Else it is refused. */
(() => {
  "use strict";

  const ALIAS = [8.7, 11.5, 1.1], END = 44, LEFT_OUT = 1e-10, IMAGES = 28, TAIL = 1e-13, AGREE = 1e-8;
  const FINENESS = [1, 1.25, 1.6, 2, 3];
  const MOST_NODES = 1 << 17, MOST_WORK = 1e8, MOST_TOTAL = 4e8;  /* products in one line and for one answer: half a second, two seconds */
  const DIRECTIONS = { add_remove: ["remove", "add"], zero_out: ["remove", "add"], replace: ["replace"] };

  /* No number of the stated accuracy; `message` says why. */
  class Refusal extends Error {
    constructor(message) { super(message); this.name = "Refusal"; }
  }
  const SLOW = "the transform of the privacy loss decays too slowly for this accountant: too few participations for so little noise";

  const FAR = "the privacy loss is too large for its transform to be inverted";

  let spent = 0;  /* products so far for the answer that is asked for */

  /* --- one step -------------------------------------------------------------------------------- */

  /* x > 0 with P(N > x) = p, for p < 1e-9: Newton's method on the continued fraction of Mills' ratio. */
  function tailPoint(p) {
    let x = Math.sqrt(-2 * Math.log(p));
    for (let i = 0; i < 20; i++) {
      const denominator = x + 1 / (x + 2 / (x + 3 / (x + 4 / x)));
      x += (-x * x / 2 - Math.log(denominator * Math.sqrt(2 * Math.PI)) - Math.log(p)) / denominator;
    }
    return x;
  }

  const logSum = (x, y) => Math.max(x, y) + Math.log1p(Math.exp(-Math.abs(x - y)));

  /* ln of (1 - q) N(0, 1) + q N(place/k, 1) over N(0, 1), at u. */
  const logMixture = (u, q, k, place) => logSum(Math.log1p(-q), Math.log(q) + (u - place / (2 * k)) * place / k);

  /* k Gaussian releases of all records: ln M = k mu^2 z (z + 1) / 2. */
  class Full {
    constructor(mu, steps) { this.half = steps * mu * mu / 2; this.largest = Infinity; }
    logs(centers) { return centers.map((c) => this.half * c * (c + 1)); }
    moments(c) { return [this.half * c * (c + 1), this.half * (2 * c + 1), 2 * this.half]; }
    line(c, step, count) {
      const size = new Float64Array(count), phase = new Float64Array(count);
      for (let k = 0; k < count; k++) { size[k] = -this.half * (step * k) ** 2; phase[k] = this.half * (2 * c + 1) * step * k; }
      return [this.logs([c])[0], size, phase];
    }
  }

  /* k releases of Poisson samples, in one direction. */
  class Sampled {
    constructor(sigma, q, steps, direction, smallest) {
      Object.assign(this, { sigma, q, steps, direction });
      this.largest = direction === "add" ? -steps * Math.log1p(-q) : Infinity;  /* no loss is larger */
      this.reach = tailPoint(LEFT_OUT * smallest / steps / 2);
    }

    logW(u) { return logMixture(u, this.q, this.sigma, 1); }

    /* Loss, and ln of the unnormalised density of P. */
    at(u) {
      const w = this.logW(u);
      if (this.direction === "add") return [-w, -u * u / 2];
      return [this.direction === "remove" ? w : w - this.logW(-u), w - u * u / 2];
    }

    nodes(low, high, height, fineness) {
      let left = 9.5, right = 9.5;  /* exp(-9.5^2/2) = 3e-20 beside the maximum of the exponent, whose slope bounds it */
      for (const c of [low, high]) {
        const push = { remove: 1 + c, add: -c, replace: 1 + 2 * c }[this.direction] / this.sigma;
        left = Math.max(left, 9.5 - push);
        right = Math.max(right, 9.5 + push);
      }
      const start = -Math.min(left, this.reach), end = Math.min(right, this.reach + 1 / this.sigma);
      const rough = [];
      for (let i = 0; start + 0.25 * i < end + 0.25; i++) rough.push(this.at(start + 0.25 * i));
      let first = rough.length, last = 0;
      for (const c of [0, low, high]) {
        const exponents = rough.map(([loss, log]) => log + c * loss);
        const kept = exponents.reduce((a, b) => Math.max(a, b), -Infinity) - END;
        first = Math.min(first, exponents.findIndex((x) => x > kept));
        last = Math.max(last, exponents.findLastIndex((x) => x > kept));
      }
      if (!(first >= 0 && first <= last)) throw new Refusal(FAR);  /* the exponents overflowed */
      let slope = 0;
      for (let i = first; i < last; i++) slope = Math.max(slope, Math.abs(rough[i + 1][0] - rough[i][0]) / 0.25);
      const spacing = 2 * Math.PI / ((ALIAS[0] + ALIAS[1] / this.sigma) * fineness + ALIAS[2] * height * slope);
      const count = Math.floor((last - first) * 0.25 / spacing) + 2;
      if (!(count < MOST_WORK / 100)) throw new Refusal(SLOW);
      const loss = new Float64Array(count), log = new Float64Array(count);
      let mass = 0;  /* dividing by the sum of P's weights cancels their rounding, which many steps would amplify */
      for (let j = 0; j < count; j++) {
        [loss[j], log[j]] = this.at(start + 0.25 * first + spacing * j);
        mass += Math.exp(log[j]);
      }
      return { loss, log, mass: Math.log(mass) };
    }

    static sums({ loss, log, mass }, c) {
      let shift = -Infinity, total = 0, mean = 0, square = 0;
      for (let j = 0; j < loss.length; j++) shift = Math.max(shift, log[j] + c * loss[j]);
      for (let j = 0; j < loss.length; j++) {
        const weight = Math.exp(log[j] + c * loss[j] - shift);
        total += weight;
        mean += weight * loss[j];
      }
      mean /= total;
      for (let j = 0; j < loss.length; j++) square += Math.exp(log[j] + c * loss[j] - shift) * (loss[j] - mean) ** 2;
      return [Math.log(total) + shift - mass, mean, square / total];
    }

    /* ln M^k at real places. */
    logs(centers) {
      const nodes = this.nodes(Math.min(...centers), Math.max(...centers), 0, 1);
      return centers.map((c) => this.steps * Sampled.sums(nodes, c)[0]);
    }

    /* ln M^k at c with its first two derivatives. */
    moments(c) { return Sampled.sums(this.nodes(c, c, 0, 1), c).map((x) => this.steps * x); }

    /* ln M(c)^k, and ln |M(z)/M(c)|^k with its phase at z = c + i step (0, 1, ...), all on the same nodes, whose ends
       at the outcomes left out matter to M(c). Blocks of the line share their powers. */
    line(c, step, count, fineness) {
      const { loss, log, mass } = this.nodes(c, c, step * count, fineness), n = loss.length;
      spent += n * count;
      if (n * count > MOST_WORK || spent > MOST_TOTAL) throw new Refusal(SLOW);
      const columns = Math.ceil(Math.sqrt(count)), weight = new Float64Array(n);
      let shift = -Infinity, sum = 0;
      for (let j = 0; j < n; j++) shift = Math.max(shift, log[j] + c * loss[j]);
      for (let j = 0; j < n; j++) sum += weight[j] = Math.exp(log[j] + c * loss[j] - shift);
      const cosine = new Float64Array(n * columns), sine = new Float64Array(n * columns);
      for (let m = 0, at = 0; m < columns; m++) {
        for (let j = 0; j < n; j++, at++) { cosine[at] = Math.cos(step * m * loss[j]); sine[at] = Math.sin(step * m * loss[j]); }
      }
      const size = new Float64Array(count), phase = new Float64Array(count);
      const real = new Float64Array(n), imaginary = new Float64Array(n);
      for (let row = 0; row < count; row += columns) {
        for (let j = 0; j < n; j++) {
          const w = weight[j] / sum;
          real[j] = w * Math.cos(step * row * loss[j]);
          imaginary[j] = w * Math.sin(step * row * loss[j]);
        }
        for (let m = 0, at = 0; m < columns && row + m < count; m++) {
          let x = 0, y = 0;
          for (let j = 0; j < n; j++, at++) {
            x += real[j] * cosine[at] - imaginary[j] * sine[at];
            y += real[j] * sine[at] + imaginary[j] * cosine[at];
          }
          size[row + m] = this.steps * Math.log(Math.hypot(x, y));
          phase[row + m] = this.steps * Math.atan2(y, x);
        }
      }
      return [this.steps * (Math.log(sum) + shift - mass), size, phase];
    }
  }

  /* --- one step of a batch of fixed size ------------------------------------------------------- */

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

  /* What no data exceed: the places of the record in P and Q for positive losses, and for the direction exchanged. */
  const WORST = { replace: [[2, 0], [2, 0]], remove: [[2, 1], [1, 0]], add: [[1, 0], [2, 1]] };

  class Dominating extends Sampled {
    nodes(low, high, height, fineness) {
      const { sigma: k, q } = this, cell = 0.125, loss = [0], log = [0];
      const mixture = (u, place) => logMixture(u, q, k, place);
      let rest = 1;
      WORST[this.direction].forEach(([a, b], back) => {
        const sign = back ? -1 : 1, start = (a + b) / (2 * k), rough = [];
        for (let u = start; u < this.reach + a / k + 3 * cell; u += cell) {
          const p = mixture(u, a), r = mixture(u, b);
          rough.push([u, p - r, (back ? r : p) - u * u / 2]);
        }
        let last = 0;
        for (const c of [0, low, high]) {
          const exponents = rough.map(([, x, seen]) => seen + sign * c * x);
          const kept = exponents.reduce((x, y) => Math.max(x, y), -Infinity) - END;
          last = Math.max(last, exponents.findLastIndex((x) => x > kept));
        }
        const steep = height + Math.max(Math.abs(low), Math.abs(high));
        for (let i = 0; i <= Math.min(last, rough.length - 3); i++) {
          const rise = Math.max(rough[i + 1][1] - rough[i][1], rough[i + 2][1] - rough[i + 1][1]);
          const count = Math.ceil(fineness * (cell * (8 + 8 / k) + steep * rise) / 4), width = cell / count;
          if (!(count + loss.length < MOST_WORK / 100)) throw new Refusal(SLOW);
          for (let j = 0; j < count; j++) {
            for (const [at, weight] of GAUSS) {
              const u = rough[i][0] + width * (j + at), p = mixture(u, a), r = mixture(u, b);
              const mass = (back ? r : p) - u * u / 2 + Math.log(weight * width) - Math.log(2 * Math.PI) / 2;
              loss.push(sign * (p - r));
              log.push(mass);
              rest -= Math.exp(mass);
            }
          }
        }
      });
      log[0] = Math.log(Math.max(rest, 1e-300));
      return { loss: Float64Array.from(loss), log: Float64Array.from(log), mass: 0 };
    }

    line(c, step, count, fineness) {
      const { loss, log } = this.nodes(c, c, 0, 1);
      if (this.steps * (log[0] - Sampled.sums({ loss, log, mass: 0 }, c)[0]) > Math.log(1e-12)) throw new Refusal(SLOW);
      return super.line(c, step, count, fineness);
    }
  }

  /* The pair (2, 1), which data attain: others opposite to a record that is zeroed out in Q. */
  class Opposite extends Sampled {
    constructor(noise, q, steps, smallest) { super(noise / 2, q, steps, "remove", smallest); }
    at(u) {
      const w = this.logW(u);
      return [w - logMixture(u, this.q, 2 * this.sigma, 1), w - u * u / 2];
    }
  }

  /* --- composition ----------------------------------------------------------------------------- */

  function saddleAt(law, c) {
    const [log, slope, curvature] = law.moments(c);
    const total = curvature + 1 / c ** 2 + 1 / (1 + c) ** 2;
    if (!(total > 0 && total < Infinity)) throw new Refusal(FAR);
    const width = total ** -0.5, epsilon = slope - 1 / c - 1 / (1 + c);
    const logDelta = log - c * epsilon - Math.log(c) - Math.log1p(c) + Math.log(width) - Math.log(2 * Math.PI) / 2;
    return { c, log, slope, curvature, width, epsilon, logDelta };
  }

  /* Solve an increasing equation, (saddle) -> [value, derivative in ln c]. */
  function solve(law, equation) {
    let low = -Infinity, high = Infinity, v = 0, saddle;
    for (let i = 0; i < 200; i++) {
      saddle = saddleAt(law, Math.exp(v));
      const [value, derivative] = equation(saddle);
      if (value > 0) high = Math.min(high, v); else low = Math.max(low, v);
      const step = -value / Math.max(derivative, 1e-300);
      if (Math.abs(step) < 0.1 && Math.abs(step * value) < 0.01) return saddle;
      v += Math.max(-3, Math.min(3, step));
      if (!(low < v && v < high)) v = (low + high) / 2;
      if (high - low < 1e-9 * (1 + Math.abs(high)) || Math.abs(v) > 600) return saddle;
    }
    return saddle;
  }

  /* The minimum over c of ln M - c epsilon - ln(c (c + 1)). */
  const saddleAtEpsilon = (law, epsilon) => solve(law, ({ c, slope, curvature }) => {
    const share = c / (1 + c);
    return [c * (slope - epsilon) - 1 - share, 1 + share ** 2 + c * c * curvature];
  });

  /* Where the saddle-point approximation of the profile is delta. */
  const saddleAtDelta = (law, logDelta) => solve(law, (s) => [logDelta - s.logDelta, (s.c / s.width) ** 2]);

  class Line {
    constructor(law, saddle, epsilon, fineness) {
      const { c, log, width } = saddle;
      Object.assign(this, { c, rounding: 1e-15 * (1 + Math.abs(log) + Math.abs(c * epsilon)) });
      this.period = fineness * Line.period(law, saddle, epsilon);
      const step = this.step = 2 * Math.PI / this.period;
      for (let reach = 8 * fineness * width; ; reach *= 1.6) {
        const count = Math.ceil(reach / step) + 2;
        if (!(count <= MOST_NODES)) throw new Refusal(SLOW);
        const [height, size, phase] = law.line(c, step, count, fineness);
        this.log = height;
        this.real = new Float64Array(count);
        this.imaginary = new Float64Array(count);
        let largest = 0, last = 0;
        for (let k = 0; k < count; k++) {
          const t = step * k, x = c * c + c - t * t, y = t * (2 * c + 1);  /* z (z + 1) */
          const factor = Math.exp(size[k]) * step / Math.PI / (k ? 1 : 2) / (x * x + y * y);
          const cosine = Math.cos(phase[k]), sine = Math.sin(phase[k]);
          this.real[k] = factor * (cosine * x + sine * y);
          this.imaginary[k] = factor * (sine * x - cosine * y);
          const term = Math.hypot(this.real[k], this.imaginary[k]);
          largest = Math.max(largest, term);
          if (k >= count - 1 - (count >> 3)) last = Math.max(last, term);
        }
        if (last * count < TAIL * largest) return;
      }
    }

    /* D at which the images of the profile are negligible or known. */
    static period(law, { c, log, width }, epsilon) {
      const far = [], height = log - c * epsilon;
      for (let i = -7; i < 6; i++) far.push(Math.min(width * 2 ** i, 4 * (c + 1)));
      const logs = law.logs([...far.map((t) => c + t), ...far.map((t) => -1 - t)]);
      let lower = -Infinity, upper = Infinity;  /* outside of which the law exp(cL) dP/M(c) has almost no mass */
      far.forEach((t, i) => {
        upper = Math.min(upper, (IMAGES + logs[i] - log) / t);
        lower = Math.max(lower, -(IMAGES + logs[far.length + i] - log) / (c + 1 + t));
      });
      return Math.max(epsilon - lower, upper - epsilon, -(height + 7) / c, 1 / width);
    }

    /* ln delta, its derivative in epsilon, the cancellation in the sum. */
    logDelta(epsilon) {
      const { c, step, period } = this, height = this.log - c * epsilon;
      const left = c * period, right = left + period;
      const first = Math.exp(-left - height) / -Math.expm1(-left);
      const second = Math.exp(epsilon - right - height) / -Math.expm1(-right);
      let total = second - first, slope = second, sizes = first;
      for (let k = 0; k < this.real.length; k++) {
        const t = step * k, cosine = Math.cos(t * epsilon), sine = Math.sin(t * epsilon);
        const x = this.real[k] * cosine + this.imaginary[k] * sine, y = this.imaginary[k] * cosine - this.real[k] * sine;
        total += x;
        slope += x * c - y * t;
        sizes += Math.hypot(x, y);
      }
      if (!(total > 0)) throw new Refusal("delta is lost in rounding");
      return [height + Math.log(total), -slope / total, sizes / total];
    }

    /* Newton's method. */
    epsilon(logDelta, epsilon) {
      const { c } = this;
      for (let i = 0; i < 50; i++) {
        const [value, slope] = this.logDelta(epsilon);
        const change = (logDelta - value) / Math.min(slope, -1e-3 * c);
        epsilon += Math.max(-3 / c, Math.min(3 / c, change));
        if (Math.abs(change) <= 1e-13 * Math.max(Math.abs(epsilon), 1 / c)) return epsilon;
      }
      throw new Refusal("epsilon was not found on the line");
    }
  }

  /* Refine until two values agree; `line` is the first, where there is one. */
  function refined(law, saddle, epsilon, read, tolerance, line) {
    let previous = Infinity;
    for (const fineness of FINENESS) {
      if (fineness > 1 || !line) line = new Line(law, saddle, epsilon, fineness);
      const value = read(line);
      if (Math.abs(value - previous) + line.logDelta(epsilon)[2] * line.rounding <= tolerance) return value;
      previous = value;
    }
    throw new Refusal("the required accuracy is not reached");
  }

  function epsilonOf(law, delta) {
    const target = Math.log(delta);
    let saddle = saddleAtDelta(law, target), guess = saddle.epsilon, line;
    for (let i = 0; i < 5; i++) {
      line = new Line(law, saddle, guess, 1);
      guess = line.epsilon(target, guess);
      if (line.logDelta(guess)[2] < 30) break;
      saddle = saddleAtEpsilon(law, guess);
      line = null;
    }
    return refined(law, saddle, guess, (at) => at.epsilon(target, guess), AGREE * Math.max(Math.abs(guess), 1 / saddle.c), line);
  }

  function logDeltaOf(law, epsilon) {
    if (epsilon >= law.largest) return -Infinity;
    const saddle = saddleAtEpsilon(law, epsilon);
    if (saddle.log - saddle.c * epsilon < -700) return -Infinity;  /* delta <= M(c) exp(-c epsilon), below the floats */
    return Math.min(0, refined(law, saddle, epsilon, (line) => line.logDelta(epsilon)[0], AGREE));
  }

  /* --- what it offers -------------------------------------------------------------------------- */

  const LEAST = 0.05, MOST = 1000;  /* noise multipliers; less hides nothing (desk/spending.py) */
  const RANGES = {
    noise: [(x) => x >= LEAST && x <= MOST, `must lie between ${LEAST} and ${MOST}`],
    q: [(x) => x > 0 && x <= 1, "must be above 0 and at most 1"],
    steps: [(x) => Number.isInteger(x) && x >= 1 && x <= 1e7, "must be a whole number from 1 to 10 million"],
    delta: [(x) => x >= 1e-30 && x < 1, "must be at least 1e-30 and below 1"],
    epsilon: [(x) => x >= 0 && x <= 1000, "must lie between 0 and 1000"],
    relation: [(x) => Object.hasOwn(DIRECTIONS, x), `must be one of ${Object.keys(DIRECTIONS).join(", ")}`],
  };

  function checked(run) {
    for (const [name, value] of Object.entries(run)) {
      if (!RANGES[name][0](value)) throw new RangeError(`${name} ${RANGES[name][1]}, got ${value}`);
    }
    return run;
  }

  const pull = (relation) => (relation === "replace" ? 2 : 1);

  function laws({ noise, q, steps, relation }, smallest) {
    if (q === 1) return [new Full(pull(relation) / noise, steps)];
    return DIRECTIONS[relation].map((direction) => new Sampled(noise, q, steps, direction, smallest));
  }

  /* The smallest epsilon >= 0 at delta. A step's total variation is at most q erf(mu/sqrt 8) <= q mu/sqrt(2 pi). */
  function epsilon({ noise, q, steps, relation, delta }) {
    const run = checked({ noise, q, steps, relation, delta });
    if (steps * q * pull(relation) / noise <= delta * Math.sqrt(2 * Math.PI)) return 0;
    return Math.max(0, ...laws(run, delta).map((law) => epsilonOf(law, delta)));
  }

  /* delta at epsilon; 0 stands for less than 1e-290. Outcomes may be left out relative to what is found only, so small
     values take further rounds. */
  function delta({ noise, q, steps, relation, epsilon: at }) {
    const run = checked({ noise, q, steps, relation, epsilon: at });
    let problem = null;
    for (const smallest of [1e-12, 1e-40, 1e-290]) {
      try {
        problem = null;
        const value = Math.exp(Math.max(...laws(run, smallest).map((law) => logDeltaOf(law, at))));
        if (value >= smallest) return value;
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        problem = error;
      }
    }
    if (problem) throw problem;
    return 0;
  }

  /* The noise multiplier at which epsilon is met, above the exact one by a relative 4e-7 at most: the root is enclosed
     to 1e-7, its upper end taken, and 1e-7 of the accuracy of epsilon added. */
  function noise({ epsilon: target, q, steps, relation, delta: at }, spends = epsilon) {
    checked({ epsilon: target, q, steps, relation, delta: at });
    if (target < 1e-6) throw new RangeError("epsilon must be at least 1e-6");
    const excess = (log) => Math.max(-30, Math.log(spends({ noise: Math.exp(log), q, steps, relation, delta: at }) / target));
    const least = Math.log(LEAST), most = Math.log(MOST), clip = (v) => Math.max(least, Math.min(most, v));
    const L = Math.log(1 / at), mu = pull(relation) ** -1 * (Math.sqrt(2 * (L + target)) - Math.sqrt(2 * L));
    let a = clip(-Math.log(Math.log1p((mu / q) ** 2 / steps)) / 2), fa = excess(a);  /* the central limit */
    let step = Math.max(0.02, Math.min(0.5, 1.2 * Math.abs(fa))), b = a, fb = fa;
    while (fb > 0 === fa > 0) {
      [a, fa] = [b, fb];
      if (fa > 0 && a === most) throw new Refusal(`more noise than ${MOST} times the clip norm is needed`);
      if (fa <= 0 && a === least) throw new Refusal(`less noise than ${LEAST} times the clip norm is enough, and that is no protection to speak of`);
      b = clip(a + (fa > 0 ? step : -step));
      fb = excess(b);
      step *= 2;
    }
    if (fa <= 0) [a, fa, b, fb] = [b, fb, a, fa];  /* f(a) > 0 >= f(b), a < b */
    let side = 0;
    while (b - a > 1e-7) {
      /* Illinois's secant, kept 0.4e-7 inside, so that the bracket closes from both sides */
      let v = fb === -30 || fa > 3 ? (a + b) / 2 : b - fb * (b - a) / (fb - fa);
      v = Math.max(a + 4e-8, Math.min(b - 4e-8, v));
      const f = excess(v);
      if (f > 0) { a = v; fa = f; if (side > 0) fb /= 2; side = 1; } else { b = v; fb = f; if (side < 0) fa /= 2; side = -1; }
    }
    return Math.exp(b + 1e-7);
  }

  /* A guaranteed epsilon where the exact one is refused: for every order a = z + 1 > 1
     eps <= (ln M(z) + z ln(z/(z + 1)) - ln((z + 1) delta)) / z (Renyi divergences, tight conversion). */
  function bound({ noise, q, steps, relation, delta }, all = laws, [from, to, by] = [-4, 9, 0.1]) {
    const run = checked({ noise, q, steps, relation, delta });
    return Math.max(0, ...all(run, delta).map((law) => {
      let best = Infinity;
      for (let v = from; v <= to; v += by) {
        const z = Math.exp(v);
        const value = (law.logs([z])[0] + z * Math.log(z / (z + 1)) - Math.log((z + 1) * delta * (1 - LEFT_OUT))) / z;
        if (value < best) best = value;
      }
      return best;
    }));
  }

  const dominating = ({ noise, q, steps, relation }, smallest) =>
    DIRECTIONS[relation].map((direction) => new Dominating(noise, q, steps, direction, smallest));

  /* Batches of fixed size, "zero_out" or "replace": what no data exceed. Plain releases of all records are a bound too. */
  function fixedUpper({ noise, q, steps, relation, delta }) {
    const run = checked({ noise, q, steps, relation, delta }), plain = epsilon({ ...run, q: 1 });
    if (steps * q * pull(relation) / noise <= delta * Math.sqrt(2 * Math.PI)) return 0;
    spent = 0;
    try {
      return Math.min(plain, Math.max(0, ...dominating(run, delta).map((law) => epsilonOf(law, delta))));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      /* a ten-thousandth of delta pays for outcomes that are left out */
      const rest = (run, delta) => dominating(run, 1e6 * delta);
      return Math.min(plain, bound({ ...run, delta: delta * (1 - 1e-4) }, rest, [-3, 5, 0.1]));
    }
  }

  /* What explicit data spend: those of a Poisson sample, at half the noise if a record is replaced, or the pair (2, 1).
     0 where neither is found. */
  function fixedLower({ noise, q, steps, relation, delta }) {
    const attempts = [() => epsilon({ noise: noise / pull(relation), q, steps, relation: "add_remove", delta })];
    if (relation !== "replace") attempts.push(() => epsilonOf(new Opposite(noise, q, steps, delta), delta));
    return Math.max(0, ...attempts.map((attempt) => {
      spent = 0;
      try { return attempt() * (1 - 1e-7); } catch (error) {
        if (error instanceof Refusal || error instanceof RangeError) return 0;
        throw error;
      }
    }));
  }

  const fixedNoise = (run) => noise(run, fixedUpper), boundNoise = (run) => noise(run, bound);

  /* Each answer has its own allowance of work. */
  const afresh = (answer) => (run) => { spent = 0; return answer(run); };
  const offers = { epsilon, delta, noise, bound, boundNoise, fixedUpper, fixedLower, fixedNoise };

  globalThis.accountant = { ...Object.fromEntries(Object.entries(offers).map(([name, answer]) => [name, afresh(answer)])), Refusal };
})();

/* The accountant of Poisson sampling in plain JavaScript: exact epsilon, delta and noise multiplier of composed
   Gaussian releases. No page; `globalThis.accountant` holds what it offers, see its end.

   The route is that of lib/dpdynamics (divergence/gaussian_pair.py, numerics/inversion.py), where it is derived.
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
   * Batches of fixed size: the laws of divergence/without_replacement.py, by Gauss-Legendre panels, see there. Where a
     step without loss leaves more than 1e-12 of M^k far up the line, bounds take the place of the exact value.
   * Where a record takes part less than once and M decays too slowly, the law of a step is put on a mesh and convolved:
     with cells moved to their ends such that P and Q keep their masses the profile is nowhere smaller, gathered from the
     top down nowhere larger (numerics/privacy_loss.py). Then there are two ends, a relative 1e-5 to 1e-2 apart.
   * Many steps on batches of fixed size, many epochs, shuffled or of balls and bins: accountant_many.js, accountant_epochs.js,
     accountant_attacks.js and accountant_replaced.js have bounds that take longer; `closer` and `below` ask them.
   * Nothing rests on these numbers alone: everything is computed again on a longer, finer line until two values agree
     to 1e-8 of max(eps, 1/c), 1/c being the distance in which delta falls by a factor e. Else it is refused. */
(() => {
  "use strict";

  const { privacyLoss } = globalThis, { GAUSS, normal, quantile, between } = privacyLoss;
  const ALIAS = [8.7, 11.5, 1.1], END = 44, LEFT_OUT = 1e-10, IMAGES = 28, TAIL = 1e-13, GROWTH = 1.6, AGREE = 1e-8, MOST_ORDER = 128;
  const FINENESS = [1.25, 1.6, 2, 3];
  const MOST_NODES = 1 << 17, MOST_WORK = 5e7, MOST_TOTAL = 3e7, RARE_TOTAL = 5e6;  /* products in one line, and for one value: a tenth of a second */
  const DIRECTIONS = { add_remove: ["remove", "add"], zero_out: ["remove", "add"], replace: ["replace"] };

  /* No number of the stated accuracy; `message` says why. */
  class Refusal extends Error {
    constructor(message) { super(message); this.name = "Refusal"; }
  }
  const SLOW = "the transform of the privacy loss decays too slowly for this accountant: too few participations for so little noise";

  const FAR = "the privacy loss is too large for its transform to be inverted";

  /* Room for cosines and sines, kept. */
  let room = [new Float64Array(0), new Float64Array(0)];
  function table(size) {
    if (room[0].length < size) room = [new Float64Array(size), new Float64Array(size)];
    return room;
  }

  /* Where a record takes part less than once, lines are long, and there is a mesh; also where a noise is searched that is
     not exact anyway. */
  const rare = (law) => law.cells !== undefined && (law.steps * law.q < 1 || searching && law.steps * law.q < 10 && law.cells.atom), stuck = new Set();
  let searching = false;

  const reached = new Map();  /* how far up the lines of a kind of law went, in this answer */
  const composed = new Map();  /* bounds on a mesh, in this answer */
  let spent = 0;  /* products so far for the answer that is asked for */

  /* --- one step -------------------------------------------------------------------------------- */

  const logSum = (x, y) => Math.max(x, y) + Math.log1p(Math.exp(-Math.abs(x - y)));

  /* ln of (1 - q) N(0, 1) + q N(place/k, 1) over N(0, 1), at u. */
  const logMixture = (u, q, k, place) => logSum(Math.log1p(-q), Math.log(q) + (u - place / (2 * k)) * place / k);

  /* k Gaussian releases of all records: ln M = k mu^2 z (z + 1) / 2. */
  class Full {
    constructor(mu, steps) { Object.assign(this, { half: steps * mu * mu / 2, largest: Infinity, moved: mu * Math.sqrt(steps) }); }
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
      Object.assign(this, { sigma, q, steps, direction, moved: steps * q * (direction === "replace" ? 2 : 1) / sigma });
      this.largest = direction === "add" ? -steps * Math.log1p(-q) : Infinity;  /* no loss is larger */
      this.reach = -quantile(LEFT_OUT * smallest / steps / 2);
    }

    /* Slope of the exponent far to the right. */
    push(c) { return { remove: 1 + c, add: -c, replace: 1 + 2 * c }[this.direction] / this.sigma; }

    logW(u) { return logMixture(u, this.q, this.sigma, 1); }

    /* The places of the record in P and Q for losses above the base and, with P and Q exchanged, below it; the base. */
    get cells() {
      const { sigma: k, q, direction } = this, sides = [{ k, q, places: direction === "replace" ? [1, -1] : [1, 0] }];
      return { sides: direction === "replace" ? [...sides, sides[0]] : sides, base: direction === "replace" ? 0 : Math.log1p(-q), turned: direction === "add" };
    }

    /* Loss, and ln of the unnormalised density of P. */
    at(u) {
      const w = this.logW(u);
      if (this.direction === "add") return [-w, -u * u / 2];
      return [this.direction === "remove" ? w : w - this.logW(-u), w - u * u / 2];
    }

    nodes(low, high, height, fineness) {
      let left = 9.5, right = 9.5;  /* exp(-9.5^2/2) = 3e-20 beside the maximum of the exponent, whose slope bounds it */
      for (const c of [low, high]) {
        const push = this.push(c);
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
      const spacing = 2 * Math.PI / ((ALIAS[0] + ALIAS[1] / this.sigma + (this.alias ?? 0)) * fineness + ALIAS[2] * height * slope);
      const count = Math.floor((last - first) * 0.25 / spacing) + 2;
      if (!(count < MOST_WORK / 500)) throw new Refusal(SLOW);
      const loss = new Float64Array(count), log = new Float64Array(count);
      let mass = 0;  /* dividing by the sum of P's weights cancels their rounding, which many steps would amplify */
      for (let j = 0; j < count; j++) {
        [loss[j], log[j]] = this.at(start + 0.25 * first + spacing * j);
        mass += Math.exp(log[j]);
      }
      return { loss, log, mass: Math.log(mass) };
    }

    static sums({ loss, log, mass }, c) {
      const weight = log.map((x, j) => x + c * loss[j]), shift = weight.reduce((x, y) => Math.max(x, y), -Infinity);
      let total = 0, mean = 0, square = 0;
      for (let j = 0; j < loss.length; j++) {
        weight[j] = Math.exp(weight[j] - shift);
        total += weight[j];
        mean += weight[j] * loss[j];
      }
      mean /= total;
      for (let j = 0; j < loss.length; j++) square += weight[j] * (loss[j] - mean) ** 2;
      return [Math.log(total) + shift - mass, mean, square / total];
    }

    /* ln M^k at real places. */
    logs(centers) {
      const nodes = this.nodes(Math.min(...centers), Math.max(...centers), 0, 1);
      return centers.map((c) => this.steps * Sampled.sums(nodes, c)[0]);
    }

    /* ln M^k at c with its first two derivatives. */
    moments(c) {
      if (!(this.from <= c && c <= this.to)) Object.assign(this, { from: c / 2, to: 2 * c, kept: this.nodes(c / 2, 2 * c, 0, 1) });
      return Sampled.sums(this.kept, c).map((x) => this.steps * x);
    }

    /* ln M(c)^k, and ln |M(z)/M(c)|^k with its phase at z = c + i step (0, 1, ...), all on the same nodes, whose ends
       at the outcomes left out matter to M(c). Blocks of the line share their powers. */
    line(c, step, count, fineness) {
      const { loss, log, mass } = this.nodes(c, c, step * count, fineness), n = loss.length;
      spent += n * count;
      if (n * count > MOST_WORK || spent > (rare(this) ? RARE_TOTAL : MOST_TOTAL)) throw new Refusal(SLOW);
      const columns = Math.min(count, Math.ceil(4 * Math.sqrt(count))), weight = new Float64Array(n);
      let shift = -Infinity, sum = 0;
      for (let j = 0; j < n; j++) shift = Math.max(shift, log[j] + c * loss[j]);
      for (let j = 0; j < n; j++) sum += weight[j] = Math.exp(log[j] + c * loss[j] - shift);
      const [cosine, sine] = table(n * columns);
      for (let m = 0, at = 0; m < columns; m++) {
        for (let j = 0, one = (m >> 1) * n, two = (m - (m >> 1)) * n; j < n; j++, at++, one++, two++) {
          if (m < 2) { cosine[at] = Math.cos(step * m * loss[j]); sine[at] = Math.sin(step * m * loss[j]); }
          else { cosine[at] = cosine[one] * cosine[two] - sine[one] * sine[two]; sine[at] = cosine[one] * sine[two] + sine[one] * cosine[two]; }
        }
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

  /* What no data exceed: the places of the record in P and Q for positive losses, and for the direction exchanged. */
  const WORST = { replace: [[2, 0], [2, 0]], remove: [[2, 1], [1, 0]], add: [[1, 0], [2, 1]] };

  class Dominating extends Sampled {
    get cells() {
      const { sigma: k, q } = this;
      return { sides: WORST[this.direction].map((places) => ({ k, q, places })), base: 0, atom: true };
    }

    nodes(low, high, height, fineness) {
      const { sigma: k, q } = this, cell = 0.5, loss = [0], log = [0];
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
          const count = Math.ceil(fineness * (cell * (8 + 8 / k) + steep * rise) / 12), width = cell / count;
          if (!(count + loss.length < MOST_WORK / 500)) throw new Refusal(SLOW);
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
  }

  /* The pair (2, 1), which data attain: others opposite to a record that is zeroed out in Q. */
  class Opposite extends Sampled {
    constructor(noise, q, steps, smallest) { super(noise / 2, q, steps, "remove", smallest); }
    get cells() { return { sides: [{ k: 2 * this.sigma, q: this.q, places: [2, 1] }], base: 0, merged: true }; }
    at(u) {
      const w = this.logW(u);
      return [w - logMixture(u, this.q, 2 * this.sigma, 1), w - u * u / 2];
    }
  }

  /* --- epochs in which a record has one batch --------------------------------------------------- */

  /* The largest release of each epoch of T batches; its law does not depend on the record's place. The record's batch
     lies at a or at b (accounting/epoch_attacks.py) if it is `present`, all others at 0. With u = x/sigma its density is
     phi(u) Phi(u)^(T-2) times g_a(u). */
  class Largest extends Sampled {
    constructor(noise, batches, present, places, epochs, smallest) {
      super(noise / Math.max(...places), 1, epochs, "remove", smallest);
      Object.assign(this, { batches, present, places: places.map((place) => place / noise) });
      this.alias = 12 * Math.sqrt(2 * Math.log(batches));
      this.reach += this.places[0];
    }

    get cells() { return undefined; }

    push(c) { return this.places[0] + c * (this.places[0] - this.places[1]); }

    at(u) {
      const { batches, present } = this, below = normal(u), [p, q] = this.places.map((a) => Math.log(
        present * (Math.exp(u * a - a * a / 2) * below + (batches - 1) * normal(u - a)) + (1 - present) * batches * below));
      return [p - q, -u * u / 2 + (batches - 2) * Math.log(below) + p];
    }
  }

  /* Balls and bins, E epochs of T batches: ln M at whole orders, T times the mean likelihood ratio being a sum of T
     independent terms of moments exp(k (k - 1)/(2 sigma^2)); for "add" by 1/S^z = int t^(z-1) exp(-tS) dt / Gamma(z). */
  class Bins {
    constructor(noise, batches, epochs, direction) {
      const moved = epochs * (direction === "replace" ? 2 : 1) / noise;
      Object.assign(this, { noise, batches, epochs, moved, largest: Infinity, orders: [] });
      if (direction === "replace") this.both = ["remove", "add"].map((way) => new Bins(noise, batches, epochs, way));
      this.way = direction;
      for (let z = 1; z < (this.both ? MOST_ORDER / 2 : MOST_ORDER); z += Math.ceil(z / 24)) this.orders.push(z);
    }

    moments() { throw new Refusal("the epochs of balls and bins are bounded by their Rényi divergences"); }

    /* If the record is replaced: Cauchy and Schwarz, by way of the law where it is zeroed out. */
    logs(centers) {
      const { both, epochs } = this;
      if (!both) this.all ??= this.way === "remove" ? this.powers() : this.inverse();
      return centers.map((z) => (both ? (both[0].logs([2 * z + 1])[0] + both[1].logs([2 * z])[0]) / 2 : epochs * this.all(z)));
    }

    /* E S^(z+1): (z+1)! times the coefficient of x^(z+1) in f(x)^T, f the series of E exp(xL), by f r' = T f' r if all terms
       are positive, else by squaring. */
    powers() {
      const { batches } = this, size = MOST_ORDER + 2, factorial = new Float64Array(size);
      const sum = (n, term) => {
        let most = -Infinity, total = 0;
        for (let k = 0; k <= n; k++) most = Math.max(most, term(k));
        for (let k = 0; k <= n; k++) total += Math.exp(term(k) - most);
        return most + Math.log(total);
      };
      for (let k = 1; k < size; k++) factorial[k] = factorial[k - 1] + Math.log(k);
      const first = factorial.map((x, k) => k * (k - 1) / (2 * this.noise ** 2) - x);
      let total = new Float64Array(size).fill(-Infinity, 1), power = first;
      if (batches > size) {
        for (let n = 1; n < size; n++) total[n] = sum(n - 1, (k) => Math.log((k + 1) * (batches + 1) / n - 1) + first[k + 1] + total[n - 1 - k]);
      } else {
        for (let left = batches; left; left >>= 1) {
          if (left % 2) total = total.map((_, n) => sum(n, (k) => total[k] + power[n - k]));
          if (left > 1) power = power.map((_, n) => sum(n, (k) => power[k] + power[n - k]));
        }
      }
      return (z) => total[z + 1] + factorial[z + 1] - (z + 1) * Math.log(batches);
    }

    /* E S^-z, infinite beyond the reach of the grid, of which desk/bins.py derives the ends and the steps. */
    inverse() {
      const { noise, batches } = this, h = Math.min(0.2, noise / 4), places = [], logs = [], nodes = [];
      for (let u = -16; u <= 9; u += h) nodes.push([h * Math.exp(-u * u / 2) / Math.sqrt(2 * Math.PI), Math.exp(u / noise - 1 / (2 * noise * noise))]);
      /* Below the first place the integral is at most t^z/z; from the last on it is negligible for all orders. */
      const from = -Math.log(batches) - 18;
      for (let v = from; v < 1 / (2 * noise * noise) + 14 / noise + 10; v += 0.06) {
        const t = Math.exp(v);
        let gone = 0, left = 0;  /* 1 - E exp(-tL) */
        for (const [weight, ratio] of nodes) gone -= weight * Math.expm1(-t * ratio);
        if (gone >= 0.5) for (const [weight, ratio] of nodes) left += weight * Math.exp(-t * ratio);
        places.push(v);
        logs.push(batches * (gone < 0.5 ? Math.log1p(-gone) : Math.log(left)));
        if (v > from + 18 && !(MOST_ORDER * (v - from - 18) + logs.at(-1) > -100)) break;
      }
      return (z) => {
        if (z / (batches * noise) + 9 / Math.sqrt(batches) > 13) return Infinity;
        const exponents = places.map((v, i) => z * v + logs[i]), most = exponents.reduce((x, y) => Math.max(x, y), -Infinity);
        let gamma = 0;
        for (let k = 2; k < z; k++) gamma += Math.log(k);
        return most + Math.log(0.06 * exponents.reduce((sum, x) => sum + Math.exp(x - most), 0) + Math.exp(z * from - most) / z) - gamma + z * Math.log(batches);
      };
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

  /* ln delta is at most ln M(c)^k - c epsilon + c ln c - (c + 1) ln(c + 1), for all c > 0. */
  function chernoff(law, epsilon) {
    const { c, log } = saddleAtEpsilon(law, epsilon);
    return log - c * epsilon - c * Math.log1p(1 / c) - Math.log1p(c);
  }

  /* Where the saddle-point approximation of the profile is delta. */
  const saddleAtDelta = (law, logDelta) => solve(law, (s) => [logDelta - s.logDelta, (s.c / s.width) ** 2]);

  class Line {
    constructor(law, saddle, epsilon, fineness, from = 0) {
      const { c, log, width } = saddle;
      Object.assign(this, { c, rounding: 1e-15 * (1 + Math.abs(log) + Math.abs(c * epsilon)) });
      this.period = fineness * Line.period(law, saddle, epsilon);
      const step = this.step = 2 * Math.PI / this.period;
      for (let reach = Math.max(8 * fineness * width, from); ; reach *= GROWTH) {
        reached.set(law.constructor.name + law.direction, this.reach = reach);
        const count = Math.ceil(reach / step) + 2;
        if (!(count <= MOST_NODES)) throw new Refusal(SLOW);
        const [height, size, phase] = law.line(c, step, count, fineness);
        this.log = height;
        const real = new Float64Array(count), imaginary = new Float64Array(count);
        let largest = 0, last = 0;
        for (let k = 0; k < count; k++) {
          const t = step * k, x = c * c + c - t * t, y = t * (2 * c + 1);  /* z (z + 1) */
          const factor = Math.exp(size[k]) * step / Math.PI / (k ? 1 : 2) / (x * x + y * y);
          const cosine = Math.cos(phase[k]), sine = Math.sin(phase[k]);
          real[k] = factor * (cosine * x + sine * y);
          imaginary[k] = factor * (sine * x - cosine * y);
          const term = Math.hypot(real[k], imaginary[k]);
          largest = Math.max(largest, term);
          if (k >= count - 1 - (count >> 3)) last = Math.max(last, term);
        }
        Object.assign(this, { real, imaginary });
        if (last * count < TAIL * largest) return;
        const [short, long] = [reach / GROWTH, reach].map((end) => {
          const taper = (part) => part.map((value, k) => value * normal(15 * (0.5 - step * k / end)));
          Object.assign(this, { real: taper(real), imaginary: taper(imaginary) });
          return this.total(epsilon)[0];
        });
        if (Math.abs(short - long) < 1e-10 * Math.abs(long)) return;
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

    /* delta over M(c)^k exp(-c epsilon), what is to be added to its derivative, the size of its terms. */
    total(epsilon) {
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
      return [total, slope, sizes];
    }

    /* ln delta, its derivative in epsilon, the cancellation in the sum. */
    logDelta(epsilon) {
      const [total, slope, sizes] = this.total(epsilon);
      if (!(total > 0)) throw new Refusal("delta is lost in rounding");
      return [this.log - this.c * epsilon + Math.log(total), -slope / total, sizes / total];
    }

    /* Newton's method, until rounding decides. */
    epsilon(logDelta, epsilon) {
      const { c } = this;
      for (let i = 0; i < 50; i++) {
        const [value, slope, lost] = this.logDelta(epsilon);
        const change = (logDelta - value) / Math.min(slope, -1e-3 * c);
        epsilon += Math.max(-3 / c, Math.min(3 / c, change));
        if (Math.abs(change) <= Math.max(1e-13 * Math.max(Math.abs(epsilon), 1 / c), this.rounding * lost / Math.abs(slope))) return epsilon;
      }
      throw new Refusal("epsilon was not found on the line");
    }
  }

  /* Refine until two values agree, starting from the first line; if `rough`, its value. */
  function refined(law, saddle, epsilon, read, tolerance, line, rough) {
    let previous = read(line);
    if (rough) return previous;
    for (const fineness of FINENESS) {
      line = new Line(law, saddle, epsilon, fineness, line.reach);
      const value = read(line);
      if (Math.abs(value - previous) + line.logDelta(epsilon)[2] * line.rounding <= tolerance) return value;
      previous = value;
    }
    throw new Refusal("the required accuracy is not reached");
  }

  /* What was refused once is not tried again in this answer. */
  function inverted(law, attempt) {
    const name = law.constructor.name + law.direction;
    if (stuck.has(name)) throw new Refusal(SLOW);
    try { return attempt(); } catch (error) {
      if (error instanceof Refusal && rare(law)) stuck.add(name);
      throw error;
    }
  }

  /* A release that moves by mu has a total variation of erf(mu/sqrt 8) <= mu/sqrt(2 pi); `moved` is the sum. */
  const epsilonOf = (law, delta, rough) => inverted(law, () => epsilonOnLine(law, delta, rough));
  const logDeltaOf = (law, epsilon, rough) => inverted(law, () => logDeltaOnLine(law, epsilon, rough));

  function epsilonOnLine(law, delta, rough) {
    if (law.moved <= delta * Math.sqrt(2 * Math.PI)) return 0;
    const target = Math.log(delta);
    let saddle = saddleAtDelta(law, target), guess = saddle.epsilon, line;
    for (let i = 0; i < 5; i++) {
      line = new Line(law, saddle, guess, 1, reached.get(law.constructor.name + law.direction));
      guess = line.epsilon(target, guess);
      if (line.logDelta(guess)[2] < 30) break;
      const nearer = saddleAtEpsilon(law, guess);
      if (Math.abs(nearer.c / saddle.c - 1) < (rough ? 0.1 : 0.003)) break;
      saddle = nearer;
    }
    return refined(law, saddle, guess, (at) => at.epsilon(target, guess), AGREE * Math.max(Math.abs(guess), 1 / saddle.c), line, rough);
  }

  function logDeltaOnLine(law, epsilon, rough) {
    if (epsilon >= law.largest) return -Infinity;
    const saddle = saddleAtEpsilon(law, epsilon);
    if (saddle.log - saddle.c * epsilon < -700) return -Infinity;  /* delta <= M(c) exp(-c epsilon), below the floats */
    return Math.min(0, refined(law, saddle, epsilon, (line) => line.logDelta(epsilon)[0], AGREE, new Line(law, saddle, epsilon, 1), rough));
  }

  /* --- convolution ------------------------------------------------------------------------------ */

  const CELLS = 1 << 15, ROUGH = 1 << 12, OUTSIDE = 1e-16;

  const grown = (x) => x + Math.log(-Math.expm1(-x));  /* ln(e^x - 1) */

  /* The u at which the loss of places (a, b) is as given, not below the base of the side (divergence/gaussian_pair.py). */
  function placeOf({ k, q, places: [a, b] }, loss) {
    const odds = Math.log1p(-q) - Math.log(q);
    if (b === 0) return a / (2 * k) + k / a * (grown(loss - Math.log1p(-q)) + odds);
    if (b < 0) {
      const x = odds + (a / k) ** 2 / 2 + Math.log(Math.sinh(loss / 2));
      return k / a * (loss / 2 + (x > 20 ? x + Math.LN2 : Math.asinh(Math.exp(x))));
    }
    const root = logSum(2 * loss, Math.log(4) + odds + grown(loss) - 1 / (k * k));
    return 1.5 / k + k * (logSum(loss, root / 2) - Math.LN2);
  }

  /* One step on a mesh: masses of P and Q between neighbouring losses base + j mesh, j from `first`; P's beyond, and of no loss. */
  function onCells(law, mesh) {
    const { sides, base, turned, atom, merged } = law.cells;
    const parts = sides.map((side) => {
      const { k, places: [a, b] } = side, end = law.reach + a / k, top = logMixture(end, side.q, k, a) - logMixture(end, side.q, k, b);
      const count = Math.ceil((top - base) / mesh) + 1;
      if (!(count < 4 * CELLS && top < 700)) throw new Refusal(FAR);
      const p = new Float64Array(count), q = new Float64Array(count);
      let low = base === 0 ? placeOf(side, 0) : -Infinity;
      for (let j = 0; j < count; j++) {
        const high = placeOf(side, base + (j + 1) * mesh), idle = (1 - side.q) * between(low, high, 0);
        p[j] = idle + side.q * between(low, high, a / k);
        q[j] = b ? idle + side.q * between(low, high, b / k) : idle / (1 - side.q);
        low = high;
      }
      const beyond = (place) => (1 - side.q) * normal(-low) + side.q * normal(place / k - low);
      return { p, q, beyond: [beyond(a), beyond(b)] };
    });
    const joined = (back, ahead) => { const all = new Float64Array(back.length + ahead.length); all.set(back); all.subarray(0, back.length).reverse(); all.set(ahead, back.length); return all; };
    const [ahead, back = { p: [], q: [], beyond: [0, 0] }] = parts, lost = ahead.beyond[turned ? 1 : 0] + back.beyond[1];
    let p = joined(back.q, ahead.p), q = joined(back.p, ahead.q), first = -back.p.length;
    if (turned) { first = -p.length; [p, q] = [q.reverse(), p.reverse()]; }
    if (merged) {  /* what is left, as one outcome */
      const left = [p, q].map((part, i) => part.reduce((rest, x) => rest - x, 1 - ahead.beyond[i])), count = Math.ceil(Math.log(left[1] / left[0]) / mesh);
      first = -count;
      [p, q] = [p, q].map((part, i) => { const all = new Float64Array(count + part.length); all[0] = left[i]; all.set(part, count); return all; });
    }
    return { first, base: turned ? -base : base, p, q, lost, idle: atom ? p.reduce((rest, x) => rest - x, 1 - lost) : 0 };
  }

  /* A step whose profile is nowhere smaller: cells move to their ends such that P and Q keep their masses. */
  function raised({ first, base, p, q, idle }, mesh) {
    const law = new Float64Array(p.length + 1);
    for (let j = 0; j < p.length; j++) {
      const right = Math.max(0, Math.min(p[j], (p[j] - q[j] * Math.exp(base + (first + j) * mesh)) / -Math.expm1(-mesh)));
      law[j] += p[j] - right;
      law[j + 1] += right;
    }
    if (idle) law[-first] += Math.max(idle, 0);
    return law;
  }

  /* Bounds on the profile of all steps, at losses `top`, `top` - `mesh`, ... Nothing is left out unnoticed: what leaves
     the window above counts in full in the upper bound, what leaves it below is taken off the lower. */
  function meshed(law, rough) {
    const size = rough ? ROUGH : CELLS, name = [size, law.constructor.name, law.sigma, law.q, law.steps, law.direction, law.reach].join();
    if (composed.has(name)) return composed.get(name);
    if (!law.cells) throw new Refusal(SLOW);
    const { steps } = law, span = law.cells.sides.reduce((most, { k, places: [a, b], q }) => Math.max(most,
      logMixture(law.reach + a / k, q, k, a) - logMixture(law.reach + a / k, q, k, b) - Math.min(0, law.cells.base)), 0);
    /* Chernoff's bounds by a coarser law, which has more mass far out. */
    const wide = span / 1000, one = onCells(law, wide), masses = raised(one, wide), start = steps * one.base;
    const ends = privacyLoss.tails({ ...one, masses, mesh: wide }, steps, -Math.log(OUTSIDE));
    const low = Math.min(start, Math.max(ends[0], start + steps * one.first * wide));
    const high = Math.max(start, Math.min(ends[1], start + steps * (one.first + masses.length) * wide));
    const mesh = (high - low) / (size - 4), fine = onCells(law, mesh), laws = [raised(fine, mesh)];
    if (!fine.idle) laws.push(privacyLoss.lowered(fine, mesh));
    const { top, profiles: [above, below] } = privacyLoss.composed(laws, { ...fine, mesh }, steps, low, high), margin = OUTSIDE + 1e-13 + 1e-15 * steps;
    if (!Number.isFinite(above.at(-1) + (below?.at(-1) ?? 0))) throw new Refusal(FAR);
    const bounds = { above: { top, mesh, profile: above.map((x) => x + steps * fine.lost + margin) } };
    if (below) bounds.below = { top, mesh, profile: below.map((x) => x - margin) };
    composed.set(name, bounds);
    return bounds;
  }

  /* Where a bound falls to delta. */
  function meshedEpsilon(law, delta, side, rough) {
    const found = meshed(law, rough)[side];
    return found ? privacyLoss.fallsTo(found, delta) : 0;
  }

  /* A bound on delta. */
  function meshedDelta(law, epsilon, side) {
    const found = meshed(law)[side], value = found ? privacyLoss.profileAt(found, epsilon) : 0;
    return Number.isNaN(value) ? (side === "above" ? 1 : 0) : Math.max(0, Math.min(1, value));
  }

  /* --- what it offers -------------------------------------------------------------------------- */

  const LEAST = 0.05, MOST = 1e5;  /* noise multipliers; less hides nothing (desk/spending.py) */
  const RANGES = {
    noise: [(x) => x >= LEAST && x <= MOST, `must lie between ${LEAST} and ${MOST}`],
    q: [(x) => x > 0 && x <= 1, "must be above 0 and at most 1"],
    steps: [(x) => Number.isInteger(x) && x >= 1 && x <= 1e7, "must be a whole number from 1 to 10 million"],
    delta: [(x) => x >= 1e-30 && x < 1, "must be at least 1e-30 and below 1"],
    epsilon: [(x) => x >= 0 && x <= 1000, "must lie between 0 and 1000"],
    sampling: [(x) => Object.hasOwn(SAMPLINGS, x), "must be poisson, fixed, shuffled or bins"],
    relation: [(x) => Object.hasOwn(DIRECTIONS, x), `must be one of ${Object.keys(DIRECTIONS).join(", ")}`],
  };

  function checked(run) {
    for (const [name, value] of Object.entries(run)) {
      if (!RANGES[name][0](value)) throw new RangeError(`${name} ${RANGES[name][1]}, got ${value}`);
    }
    return run;
  }

  const pull = (relation) => (relation === "replace" ? 2 : 1);

  /* What bounds a run from above and from below: lists of laws. The largest of a list counts, and the least of the
     lists. `exact` where both are one list. With whole batches all samplings are one. */
  const SAMPLINGS = {
    poisson({ noise, q, steps, relation }, smallest) {
      const laws = q === 1 ? [new Full(pull(relation) / noise, steps)]
        : DIRECTIONS[relation].map((direction) => new Sampled(noise, q, steps, direction, smallest));
      return { exact: true, above: [laws], below: [laws] };
    },
    fixed({ noise, q, steps, relation }, smallest) {
      const below = [new Sampled(noise / pull(relation), q, steps, "remove", smallest), new Sampled(noise / pull(relation), q, steps, "add", smallest)];
      if (relation !== "replace") below.unshift(new Opposite(noise, q, steps, smallest));
      const above = DIRECTIONS[relation].map((direction) => new Dominating(noise, q, steps, direction, smallest));
      return { above: [[new Full(pull(relation) / noise, steps)], above], below: [below] };
    },
    shuffled(run, smallest) {
      const { noise, q, steps, relation } = run;
      return { above: [[new Full(pull(relation) / noise, Math.ceil(steps / epochOf(q).inside))]], below: attacks(run, smallest) };
    },
    bins(run, smallest) {
      const { noise, q, steps, relation } = run, { batches, epochs } = epochsOf(q, steps), plain = [new Full(pull(relation) / noise, epochs)];
      const above = [plain, DIRECTIONS[relation].map((direction) => new Bins(noise, batches, epochs, direction))];
      return { above, below: attacks(run, smallest) };
    },
  };

  /* Whole batches in an epoch, and the chance of a record to be in one of them. */
  function epochOf(q) {
    const inside = Math.floor(1 / q + 1e-9), present = inside * q;
    return { inside, present: present > 1 - 1e-9 ? 1 : present };
  }

  /* Epochs that drop a last, smaller batch, or keep it. */
  function kindsOf(q) {
    const { inside, present } = epochOf(q), drops = { batches: inside, present };
    return present < 1 ? [drops, { batches: inside + 1, present: 1 }] : [drops];
  }

  /* Whole epochs, and where the record's batch lies under P and Q, all others at 0; of shuffles that drop a last, smaller batch
     the record misses some (accounting/shuffled.py). */
  const ATTACKED = {
    shuffled: ({ q, steps, relation }) => kindsOf(q).map((kind) => ({ ...kind, epochs: Math.floor(steps / kind.batches), places: [2, relation === "replace" ? 0 : 1] })),
    bins: ({ q, steps, relation }) => [{ batches: epochOf(q).inside, present: 1, epochs: Math.floor(steps / epochOf(q).inside), places: [1, relation === "replace" ? -1 : 0] }],
  };

  /* Epochs of which an attacker takes the largest release each, the record's batch at one of two places. */
  function attacks(run, smallest) {
    return ATTACKED[run.sampling](run).map(({ batches, present, epochs, places }) =>
      (epochs ? [new Largest(run.noise, batches, present, places, epochs, smallest)] : []));
  }

  /* The lists for a run; each question has its own allowance of work. */
  function lists({ noise, q, steps, relation, sampling = "poisson", delta = 0.5, epsilon = 0 }, smallest) {
    const run = checked({ noise, q, steps, relation, sampling, delta, epsilon });
    spent = 0;
    return SAMPLINGS[q === 1 ? "poisson" : sampling](run, smallest);
  }

  /* Instead of what is refused. */
  function or(instead, attempt) {
    try { return attempt(); } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return instead(error);
    }
  }

  const least = (all, value) => all.reduce((found, laws, i) => Math.min(found, value(laws, i)), Infinity);

  /* A law that Chernoff's bound keeps below what is found need not be inverted. */
  function largestEpsilon(laws, delta, rough) {
    let found = 0;
    for (const law of laws) {
      if (found && (law.largest <= found || chernoff(law, found) <= Math.log(delta))) continue;
      found = Math.max(found, epsilonOf(law, delta, rough));
    }
    return found;
  }

  /* For every order z + 1 > 1: delta <= M(z)^k exp(-z epsilon) (z/(z + 1))^z/(z + 1). A share of delta pays for outcomes
     that are left out. */
  const ORDERS = Array.from({ length: 131 }, (_, i) => Math.exp(-4 + i / 10)), PAID = 1e-4;
  const renyi = (laws, value) => Math.max(...laws.map((law) => (law.orders ?? ORDERS).reduce((best, z) => {
    const found = value(z, law.logs([z])[0] + z * Math.log(z / (z + 1)) - Math.log(z + 1));
    return found < best ? found : best;
  }, Infinity)));

  /* Epsilon from above, and what was refused on the way. */
  function epsilonAbove(run, rough) {
    const { delta } = run;
    let why = "", mesh = false;
    const value = least(lists(run, delta).above, (laws, i) => or(({ message }) => {
      const whole = laws[0].orders;
      if (!whole) why = message;
      const bound = whole ? Infinity : or(() => Infinity, () => Math.max(...laws.map((law) => meshedEpsilon(law, delta, "above", rough))));
      mesh = bound < Infinity;
      return mesh ? bound : or(() => Infinity, () => Math.max(0, renyi(whole ? laws : lists(run, PAID / LEFT_OUT * delta).above[i], (z, log) => (log - Math.log(delta * (1 - PAID))) / z)));
    }, () => largestEpsilon(laws, delta, rough)));
    return [value, why, mesh];
  }

  const epsilonBelow = (run, rough) => (1 - 1e-7) * least(lists(run, run.delta).below, (laws) =>
    Math.max(0, ...laws.map((law) => or(() => or(() => 0, () => meshedEpsilon(law, run.delta, "below", rough)), () => epsilonOf(law, run.delta, rough)))));

  /* The smallest epsilon >= 0 at delta lies between `low` and `high`, equal where it is `exact`; `why` is what was refused.
     Then `mesh` says that steps were convolved, else Renyi divergences were added. A `rough` answer is not refined: for plots. */
  function epsilon(run) {
    const [high, why, mesh] = epsilonAbove(run, run.rough), exact = !why && lists(run, run.delta).exact === true;
    return { low: exact ? high : Math.min(high, epsilonBelow(run, run.rough)), high, exact, why, mesh };
  }

  /* delta at epsilon; 0 stands for less than 1e-290. Outcomes may be left out relative to what is found only, so small
     values take further rounds. */
  function delta(run) {
    const at = run.epsilon, exact = lists(run, 1e-12).exact === true;
    let why = "";
    const end = (side, refused) => {
      for (const smallest of [1e-12, 1e-40, 1e-290]) {
        const value = Math.exp(least(lists(run, smallest)[side], (laws) => refused(laws, (law) => logDeltaOf(law, at, run.rough))));
        if (value >= smallest) return value;
      }
      return 0;
    };
    const high = end("above", (laws, invert) => or(({ message }) => {
      why = message;
      const orders = () => PAID + renyi(laws, (z, log) => log - z * at);
      if (laws[0].orders) return Math.min(0, orders());
      const bound = or(() => 1, () => Math.max(...laws.map((law) => meshedDelta(law, at, "above"))));
      return bound > 1e-11 ? Math.log(bound) : or(() => Math.log(bound), () => Math.min(Math.log(bound), orders()));
    }, () => Math.max(...laws.map(invert))));
    if (exact && !why) return { low: high, high, exact: true, why };
    return { low: end("below", (laws, invert) => Math.max(-Infinity, ...laws.map((law) =>
      or(() => or(() => -Infinity, () => Math.log(meshedDelta(law, at, "below"))), () => invert(law))))), high, exact: false, why };
  }

  /* The slope of a secant of ln(epsilon) against ln(noise), within what such slopes are. */
  const steepness = ([u, x], [v, y]) => Math.max(-8, Math.min(-0.5, (y - x) / (v - u)));

  /* A root of a decreasing function of the logarithm of the noise, by secants from v; the last is not tried. */
  function root(excess, [v, slope], tolerance, most) {
    let low = Math.log(LEAST), high = Math.log(MOST), before;
    for (let i = 0; i < most && high - low > 1e-9; i++) {
      const found = Math.max(-30, excess(v));
      if (found > 0) low = v; else high = v;
      if (before && found > -30 && before[1] > -30) slope = steepness(before, [v, found]);
      if (Math.abs(found) < tolerance) return [v - found / slope, slope];
      before = [v, found];
      v -= found > -30 ? Math.max(-1.5, Math.min(1.5, found / slope)) : 0.5;
      if (!(low < v && v < high)) v = (low + high) / 2;
    }
    return [v, slope];
  }

  /* The noise multiplier from which on epsilon is at most the target, above the exact one by a relative 1e-6 at most: by
     saddle points, then by values that are not refined, and last by one that is, on the safe side. */
  function noise({ epsilon: target, ...run }, side = "above", value = (asked, rough) => epsilonAbove(asked, rough)[0]) {
    if (!(target >= 1e-6)) throw new RangeError("epsilon must be at least 1e-6");
    const excess = (of) => (v) => Math.log(of({ ...run, noise: Math.min(MOST, Math.exp(v)) }) / target);
    const near = (asked) => Math.max(0, least(lists(asked, run.delta)[side], (laws) => Math.max(0, ...laws.map((law) =>
      (law.orders ? value(asked) : or(() => 0, () => saddleAtDelta(law, Math.log(run.delta)).epsilon))))));
    const L = Math.log(1 / run.delta), mu = (Math.sqrt(2 * (L + target)) - Math.sqrt(2 * L)) / pull(run.relation);
    const start = -Math.log(Math.log1p((mu / run.q) ** 2 / run.steps)) / 2;  /* the central limit */
    const from = root(excess(near), [Math.max(Math.log(LEAST), Math.min(Math.log(MOST), start)), -1.2], 1e-2, 8);
    let [v, slope] = root(excess((asked) => value(asked, true)), from, 1e-5, 60);
    if (v > Math.log(MOST) - 1e-6) throw new Refusal(`more noise than ${MOST} times the clip norm ${lists({ ...run, noise: MOST }, run.delta).exact ? "is needed" : "would be needed by the bound that is computed first"}`);
    if (v < Math.log(LEAST) + 1e-6) throw new Refusal(`less noise than ${LEAST} times the clip norm is enough, and that is no protection to speak of`);
    if (stuck.size) v -= excess(value)(v) / slope;  /* a finer mesh */
    for (let margin = stuck.size ? 1e-5 : 3e-7; ; margin *= 2) if (excess(value)(v + margin) <= 0) return Math.exp(v + margin);
  }

  /* Less noise than this certainly exceeds epsilon; 0 where nothing is proved. */
  const noiseBelow = (run) => or(() => 0, () => noise(run, "below", epsilonBelow) * (1 - 1e-4));

  /* --- closer bounds, that take time: many steps on batches of fixed size, many epochs ----------------- */

  const profiles = privacyLoss.keeper(40);

  /* The profiles of all directions, kept; undefined where one is unknown. */
  const manyProfiles = ({ noise, q, steps, relation, coarse = false }) => profiles([noise, q, steps, relation, coarse].join(), function* () {
    const found = [];
    for (const one of DIRECTIONS[relation]) found.push(yield* globalThis.manySteps(one, noise, q, steps, coarse));
    return found.every((x) => x) ? found : undefined;
  });

  const READ = {
    epsilon: ({ delta }) => (law) => privacyLoss.fallsTo(law, delta),
    delta: ({ epsilon }) => (law, unknown) => {
      const value = privacyLoss.profileAt(law, epsilon);
      return Number.isNaN(value) ? unknown : value;
    },
  };

  /* By sampling: why there is no closer bound from above; the bounds of all directions on epsilon at delta and on delta at
     epsilon; how well a noise is found. */
  const CLOSER = {
    fixed: {
      why: () => "",
      tolerance: 1e-3,
      *epsilon(run) {
        const bounds = yield* manyProfiles(run);
        return bounds ? bounds.map(({ mesh, bounds: delta }) => { const at = delta.findIndex((x) => x <= run.delta); return at < 0 ? Infinity : at * mesh; }) : [Infinity];
      },
      *delta(run) {
        const bounds = yield* manyProfiles(run);
        return bounds ? bounds.map(({ mesh, bounds: delta }) => delta[Math.min(Math.floor(run.epsilon / mesh), delta.length - 1)]) : [1];
      },
    },
    bins: {
      why: ({ q, steps, relation, ...run }) => boundsOf(relation).refusal({ ...run, ...epochsOf(q, steps) }),
      tolerance: 1e-6,
      *read({ q, steps, relation, ...run }, read) {
        const epochs = epochsOf(q, steps), bounds = boundsOf(relation), found = [];
        for (const add of relation === "replace" ? [false] : [false, true]) found.push(read(yield* bounds.above({ ...run, ...epochs, add }), 1));
        return found;
      },
      epsilon: (run) => CLOSER.bins.read(run, READ.epsilon(run)),
      delta: (run) => CLOSER.bins.read(run, READ.delta(run)),
    },
  };

  /* From below, in the same pieces: epsilon at delta, delta at epsilon, or noise from `start` upwards that is too little for epsilon.
     What attackers of whole epochs prove; where balls and bins have a record replaced, also the profile of an epoch, rounded down. */
  function* below({ what, ...run }) {
    if (what === "noise") return run.sampling in ATTACKED && run.start ? yield* noiseProved(run) : run.start;
    if (!(run.sampling in ATTACKED)) return 0;
    const { replacedEpochs, epochAttacks } = globalThis, found = [];
    for (const epoch of ATTACKED[run.sampling](run)) {
      const asked = { ...run, ...epoch }, laws = [];
      if (epoch.epochs) {
        laws.push(yield* epochAttacks.below(asked));
        if (run.sampling === "bins" && run.relation === "replace" && !replacedEpochs.refusal({ ...asked, delta: 0.5 })) laws.push(yield* replacedEpochs.below(asked));
      }
      found.push(Math.max(0, ...laws.map((law) => (law ? READ[what](run)(law, 0) : 0))));
    }
    return Math.min(...found);
  }

  /* Noise from `start` upwards, found by secants, at which attackers still prove more than the target. */
  function* noiseProved({ epsilon: target, start, ...run }) {
    let v = Math.log(start), proved = v, slope = -2, before;
    for (let i = 0; i < 6; i++) {
      const excess = Math.max(-30, Math.log((yield* below({ what: "epsilon", ...run, noise: Math.exp(v) })) / target));
      if (excess > 0) proved = Math.max(proved, v);
      if (excess > 0 && excess < 1e-3) break;
      if (before && v !== before[0]) slope = steepness(before, [v, excess]);
      before = [v, excess];
      v = Math.max(proved, v - (excess - 5e-4) / slope);
    }
    return Math.exp(proved);
  }

  const boundsOf = (relation) => (relation === "replace" ? globalThis.replacedEpochs : globalThis.manyEpochs);

  function epochsOf(q, steps) {
    const { inside: batches } = epochOf(q);
    return { batches, epochs: Math.ceil(steps / batches) };
  }

  /* Noise below `start`, from which on epsilon is at most the target, to a tolerance; `start` where none is found. */
  function* noiseCloser({ why, epsilon, tolerance }, { epsilon: target, start, first, ...run }) {
    let v = Math.log(first), enough = Math.log(start), slope = -2, floor = -Infinity, before;
    for (let i = 0; i < 12 && enough - floor > 0.01; i++) {
      const asked = { ...run, noise: Math.exp(v) };
      const excess = why(asked) ? Infinity : Math.max(-30, Math.log(Math.max(...yield* epsilon(asked)) / target));
      if (i === 0 && excess > 0 && v === enough) break;
      if (excess === Infinity) {  /* refused for so little noise: half way back */
        floor = v;
        v = (v + enough) / 2;
        continue;
      }
      if (excess <= 0) enough = Math.min(enough, v);
      if (excess <= 0 && excess > -tolerance) break;
      if (before && v !== before[0]) slope = steepness(before, [v, excess]);
      before = [v, excess];
      v = Math.min(v - (excess + tolerance / 5) / slope, enough - (excess > 0 ? tolerance / 100 : 0));
      if (v <= floor) v = (floor + enough) / 2;
    }
    return { high: enough < Math.log(start) ? Math.exp(enough) : start, low: 0 };
  }

  /* Piece by piece what takes long, for `sampling` fixed, shuffled or bins: {low, high}, of epsilon at delta, else of delta at epsilon,
     else of noise below `start`. The upper end is infinite, 1 or `start` where nothing closer is known; then `why` may say why. */
  function* closer({ what, ...run }) {
    checked({ noise: run.noise ?? 1, q: run.q, steps: run.steps, relation: run.relation, delta: run.delta ?? 0.5, epsilon: run.epsilon ?? 0 });
    const { sampling, start } = run, bounds = CLOSER[sampling];
    let first = start, why = bounds?.why({ ...run, noise: run.noise ?? first });
    for (let i = 0; what === "noise" && why && i < 12; i++) why = bounds.why({ ...run, noise: first /= 1.5 });  /* so much may be refused */
    const known = bounds && !why;
    const found = { high: { epsilon: Infinity, delta: 1, noise: start }[what], low: 0, ...(why && { why }) };
    if (what !== "noise") {
      if (known) found.high = Math.max(...yield* bounds[what](run));
      return { ...found, low: yield* below({ what, ...run }) };
    }
    if (!known) return found;
    if (sampling === "bins" && run.relation === "replace") run.start = first = (yield* noiseCloser({ ...bounds, tolerance: 1e-3 }, { ...run, first, coarse: true })).high;
    return yield* noiseCloser(bounds, { ...run, first });
  }

  /* Each answer begins afresh. */
  const offers = Object.fromEntries(Object.entries({ epsilon, delta, noise, noiseBelow }).map(([name, answer]) =>
    [name, (run) => { reached.clear(); composed.clear(); stuck.clear(); searching = name === "noise"; return answer(run); }]));
  globalThis.accountant = { ...offers, closer, below, Refusal };
})();

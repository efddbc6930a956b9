/** The standard normal distribution. */

/** Share below `x`, to 14 decimals: J. F. Hart, Computer Approximations (1968), 5666, in the form of G. West (2005). */
export function normalCdf(x: number): number {
  const size = Math.abs(x)
  const above = size > 37 ? 0 : Math.exp((-size * size) / 2) * (size < 5 * Math.SQRT2 ? hart(size) : fraction(size))
  return x > 0 ? 1 - above : above
}

const over = [
  0.0352624965998911, 0.700383064443688, 6.37396220353165, 33.912866078383, 112.079291497871, 221.213596169931,
  220.206867912376,
]
const under = [
  0.0883883476483184, 1.75566716318264, 16.064177579207, 86.7807322029461, 296.564248779674, 637.333633378831,
  793.826512519948, 440.413735824752,
]

function hart(x: number): number {
  const at = (coefficients: readonly number[]) => coefficients.reduce((sum, each) => sum * x + each, 0)
  return at(over) / at(under)
}

/** Far from 0, where the polynomials end: the first terms of the continued fraction. */
function fraction(x: number): number {
  return 1 / (x + 1 / (x + 2 / (x + 3 / (x + 4 / (x + 0.65))))) / Math.sqrt(2 * Math.PI)
}

/** The `x` below which a share `p` lies; ±Infinity at 0 and 1. By bisection: it is asked for a few times a metric. */
export function normalQuantile(p: number): number {
  if (p <= 0) return -Infinity
  if (p >= 1) return Infinity
  let [low, high] = [-38, 38]
  for (let turn = 0; turn < 80; turn += 1) {
    const middle = (low + high) / 2
    if (normalCdf(middle) < p) low = middle
    else high = middle
  }
  return (low + high) / 2
}

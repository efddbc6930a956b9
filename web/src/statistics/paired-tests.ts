/**
 * Whether paired values differ by more than chance: how often differences at least as large would come if every sign were
 * the toss of a coin (the permutation test of R. A. Fisher 1935 and E. J. G. Pitman 1937). Of answers that are yes or no this is McNemar's exact test.
 * All p values are two-sided.
 */
import { normalCdf } from "./normal.ts"
import { meanOf, standardError } from "./intervals.ts"
import { seededBits } from "./random.ts"

export interface PairedTest {
  p: number
  name: "exact McNemar test" | "exact permutation test" | "permutation test, 9,999 draws" | "z test"
}

/** Up to here every combination of signs is counted: 65,536 of them. */
const mostCounted = 16
const draws = 9999
/** From here on the sum is as good as normal. */
const mostDrawn = 1000
/** Sums of the same numbers in another order differ by less. */
const rounding = 1e-12

/** `isYesNo`: every value that was paired is 0 or 1. */
export function pairedTest(differences: readonly number[], isYesNo: boolean): PairedTest {
  const sizes = differences.filter((each) => each !== 0)
  if (isYesNo) {
    const better = sizes.filter((each) => each > 0).length
    return { p: signTest(better, sizes.length - better), name: "exact McNemar test" }
  }
  if (sizes.length <= mostCounted) return { p: countedSigns(sizes), name: "exact permutation test" }
  if (sizes.length <= mostDrawn) return { p: drawnSigns(sizes), name: "permutation test, 9,999 draws" }
  const z = meanOf(differences) / standardError(differences)
  return { p: Math.min(1, 2 * normalCdf(-Math.abs(z))), name: "z test" }
}

/** Exact sign test of `better` and `worse` pairs: the binomial distribution with p = 1/2. */
export function signTest(better: number, worse: number): number {
  const count = better + worse
  // With many pairs a single term is too small for a number, its logarithm is not.
  let term = -count * Math.LN2
  let sum = 0
  for (let chosen = 0; chosen <= Math.min(better, worse); chosen += 1) {
    sum += Math.exp(term)
    term += Math.log(count - chosen) - Math.log(chosen + 1)
  }
  return Math.min(1, 2 * sum)
}

function countedSigns(sizes: readonly number[]): number {
  const least = leastSum(sizes)
  const all = 2 ** sizes.length
  let asLarge = 0
  for (let signs = 0; signs < all; signs += 1) {
    let sum = 0
    for (let one = 0; one < sizes.length; one += 1) {
      const size = sizes[one] ?? 0
      sum += (signs >>> one) & 1 ? size : -size
    }
    if (Math.abs(sum) >= least) asLarge += 1
  }
  return asLarge / all
}

/** The observed value counts as one more draw: p is never 0 (B. Phipson and G. K. Smyth 2010). */
function drawnSigns(sizes: readonly number[]): number {
  const least = leastSum(sizes)
  const bits = seededBits(sizes.length)
  let asLarge = 1
  for (let draw = 0; draw < draws; draw += 1) {
    let sum = 0
    let signs = 0
    for (let one = 0; one < sizes.length; one += 1) {
      signs = one % 32 === 0 ? bits() : signs >>> 1
      const size = sizes[one] ?? 0
      sum += signs & 1 ? size : -size
    }
    if (Math.abs(sum) >= least) asLarge += 1
  }
  return asLarge / (draws + 1)
}

/** The smallest sum that is as large as the observed one. */
function leastSum(sizes: readonly number[]): number {
  let [sum, total] = [0, 0]
  for (const size of sizes) {
    sum += size
    total += Math.abs(size)
  }
  return Math.abs(sum) - rounding * total
}

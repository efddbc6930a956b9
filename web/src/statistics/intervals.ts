/** 95 % intervals of means and shares. */
import { normalCdf, normalQuantile } from "./normal.ts"
import { below, seededBits } from "./random.ts"

export type Interval = readonly [low: number, high: number]

const level = 0.95
const tail = (1 - level) / 2
const resamples = 4000
/** From here on the mean is as good as normal, and drawing anew would stop the page. */
const mostResampled = 1000

/** How {@link meanInterval} came to its ends. */
export type IntervalKind = "bootstrap" | "normal"

export function intervalKind(count: number): IntervalKind {
  return count > mostResampled ? "normal" : "bootstrap"
}

/**
 * Of the mean of independent values: the bootstrap, bias-corrected and accelerated (B. Efron, Better Bootstrap Confidence
 * Intervals, 1987). null: one value says nothing about others.
 */
export function meanInterval(values: readonly number[]): Interval | null {
  if (values.length < 2) return null
  return intervalKind(values.length) === "normal" ? normalInterval(values) : bootstrapInterval(values)
}

function bootstrapInterval(values: readonly number[]): Interval {
  const mean = meanOf(values)
  const means = resampledMeans(values)
  const lower = means.filter((each) => each < mean).length
  const equal = means.filter((each) => each === mean).length
  const bias = normalQuantile((lower + equal / 2) / means.length)
  const acceleration = accelerationOf(values, mean)
  // All values are equal: every drawing has the same mean.
  if (!Number.isFinite(bias) || !Number.isFinite(acceleration)) return [mean, mean]
  const end = (share: number) => {
    const z = bias + normalQuantile(share)
    return quantileOf(means, normalCdf(bias + z / (1 - acceleration * z)))
  }
  return [end(tail), end(1 - tail)]
}

function resampledMeans(values: readonly number[]): Float64Array {
  const bits = seededBits(values.length)
  const count = values.length
  const means = new Float64Array(resamples)
  for (let draw = 0; draw < resamples; draw += 1) {
    let sum = 0
    for (let one = 0; one < count; one += 1) sum += values[below(count, bits)] ?? 0
    means[draw] = sum / count
  }
  return means.toSorted()
}

/** For a mean, the jackknife's estimate has this closed form. */
function accelerationOf(values: readonly number[], mean: number): number {
  let [squares, cubes] = [0, 0]
  for (const value of values) {
    squares += (value - mean) ** 2
    cubes += (value - mean) ** 3
  }
  return cubes / (6 * squares ** 1.5)
}

/** Quantile of sorted values, interpolated between the two nearest. */
function quantileOf(sorted: Float64Array, share: number): number {
  const place = share * (sorted.length - 1)
  const low = sorted[Math.floor(place)] ?? Number.NaN
  const high = sorted[Math.ceil(place)] ?? Number.NaN
  return low + (high - low) * (place - Math.floor(place))
}

function normalInterval(values: readonly number[]): Interval {
  const [mean, half] = [meanOf(values), normalQuantile(1 - tail) * standardError(values)]
  return [mean - half, mean + half]
}

/** Interval of a share of yes: E. B. Wilson, Probable Inference (1927). It holds near 0 and 1 too. */
export function shareInterval(yes: number, count: number): Interval | null {
  if (count === 0) return null
  const z = normalQuantile(1 - tail)
  const share = yes / count
  const middle = (share + z ** 2 / (2 * count)) / (1 + z ** 2 / count)
  const half = (z / (1 + z ** 2 / count)) * Math.sqrt((share * (1 - share)) / count + z ** 2 / (4 * count ** 2))
  return [Math.max(0, middle - half), Math.min(1, middle + half)]
}

export function meanOf(values: readonly number[]): number {
  let sum = 0
  for (const value of values) sum += value
  return sum / values.length
}

/** Standard error of the mean. */
export function standardError(values: readonly number[]): number {
  const mean = meanOf(values)
  let squares = 0
  for (const value of values) squares += (value - mean) ** 2
  return Math.sqrt(squares / (values.length - 1) / values.length)
}

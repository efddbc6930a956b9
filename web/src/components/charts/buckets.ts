/**
 * Lines of any length as few points as a screen can show, with every peak kept: in each column of pixels a line has its
 * lowest and its highest value, in the order in which they came. All lines share the places on the x axis, which is what the
 * drawing wants, and what makes it quick.
 */

export interface Points {
  /** Ascending. */
  x: ArrayLike<number>
  /** null and NaN: no value there. */
  y: ArrayLike<number | null>
}

/** Shared x, then one list of y for each line. */
export type Aligned = [number[], ...(number | null)[][]]

/** A few more points than pixels are drawn as they are. */
const plainPerBucket = 4

/** Points between `from` and `to`, and the next one on each side, so that lines run to the edge. */
export function alignLines(lines: readonly Points[], from: number, to: number, buckets: number): Aligned {
  const ranges = lines.map(({ x }) => ({
    first: Math.max(0, place(x, from) - 1),
    end: Math.min(x.length, place(x, to) + 1),
  }))
  const shared = sharedPlaces(lines, ranges, plainPerBucket * buckets)
  if (shared !== null) return [shared, ...lines.map((line, index) => valuesAt(shared, line, ranges[index]))]
  const size = (to - from) / buckets
  const x: number[] = []
  for (let bucket = 0; bucket < buckets; bucket += 1) x.push(from + bucket * size, from + (bucket + 0.5) * size)
  return [x, ...lines.map((line, index) => extremes(line, ranges[index], from, size, buckets))]
}

interface Range {
  first: number
  end: number
}

/** Every x that a line has; null: there are more than `most`. */
function sharedPlaces(lines: readonly Points[], ranges: readonly Range[], most: number): number[] | null {
  if (ranges.some(({ first, end }) => end - first > most)) return null
  const places = new Set<number>()
  for (const [index, { x }] of lines.entries()) {
    const { first, end } = ranges[index] ?? { first: 0, end: 0 }
    for (let at = first; at < end; at += 1) places.add(x[at] ?? 0)
    if (places.size > most) return null
  }
  return [...places].toSorted((a, b) => a - b)
}

function valuesAt(places: readonly number[], { x, y }: Points, range: Range | undefined): (number | null)[] {
  let at = range?.first ?? 0
  return places.map((wanted) => {
    while (at < x.length && (x[at] ?? 0) < wanted) at += 1
    return x[at] === wanted ? valueOf(y[at]) : null
  })
}

function extremes(
  { x, y }: Points,
  range: Range | undefined,
  from: number,
  size: number,
  buckets: number,
): (number | null)[] {
  const values: (number | null)[] = Array.from({ length: buckets * 2 }, () => null)
  let bucket = -1
  let low = -1
  let high = -1
  for (let at = range?.first ?? 0; at < (range?.end ?? 0); at += 1) {
    const value = valueOf(y[at])
    if (value === null) continue
    const here = Math.min(buckets - 1, Math.max(0, Math.floor(((x[at] ?? 0) - from) / size)))
    if (here !== bucket) [bucket, low, high] = [here, at, at]
    else if (value < (y[low] ?? 0)) low = at
    else if (value > (y[high] ?? 0)) high = at
    else continue
    values[bucket * 2] = valueOf(y[Math.min(low, high)])
    values[bucket * 2 + 1] = valueOf(y[Math.max(low, high)])
  }
  return values
}

function valueOf(value: number | null | undefined): number | null {
  return value === undefined || value === null || Number.isNaN(value) ? null : value
}

/** The first place whose x is not below `wanted`. */
function place(x: ArrayLike<number>, wanted: number): number {
  let low = 0
  let high = x.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((x[middle] ?? 0) < wanted) low = middle + 1
    else high = middle
  }
  return low
}

/** From the lowest to the highest x of all lines; null: there is no point. */
export function wholeRange(lines: readonly Points[]): [number, number] | null {
  const ends = lines.flatMap(({ x }) => (x.length === 0 ? [] : [x[0] ?? 0, x[x.length - 1] ?? 0]))
  return ends.length === 0 ? null : [Math.min(...ends), Math.max(...ends)]
}

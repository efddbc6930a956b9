/** Numbers that are drawn alike each time, so that the same data has the same interval for everybody who looks at it. */

/** The next 32 bits. */
export type RandomBits = () => number

/** sfc32 by C. Doty-Humphrey (PractRand); it passes BigCrush. */
export function seededBits(seed: number): RandomBits {
  let [a, b, c, counter] = [0, seed | 0, 0x9e3779b9 | 0, 1]
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return sum >>> 0
  }
  // The first ones still show the seed.
  for (let turn = 0; turn < 12; turn += 1) next()
  return next
}

/** A whole number from 0 to below `count`. */
export function below(count: number, bits: RandomBits): number {
  return Math.floor((bits() / 2 ** 32) * count)
}

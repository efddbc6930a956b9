/** Values of a benchmark's command-line options. */
export type Options = Record<string, string | boolean | undefined>

/** The option's value. @throws {Error} when it is none of `known`. */
export function oneOf<const T extends string>(known: readonly T[], options: Options, name: string): T {
  const found = known.find((one) => one === options[name])
  if (found === undefined) throw new Error(`--${name} ${String(options[name])}: choose one of ${known.join(", ")}`)
  return found
}

/** Number formats that engine and peers compute in. */
export const dtypes = ["fp32", "bf16"] as const
export type Dtype = (typeof dtypes)[number]

/** The option as a whole number of at least 1. */
export function count(options: Options, name: string): number {
  const value = Number(options[name])
  if (!Number.isInteger(value) || value < 1)
    throw new Error(`--${name} must be a whole number from 1, not ${String(options[name])}`)
  return value
}

/** The option as whole numbers of at least 1, with commas between. */
export function counts(options: Options, name: string): number[] {
  const parts = String(options[name]).split(",")
  return parts.map((part) => count({ [name]: part }, name))
}

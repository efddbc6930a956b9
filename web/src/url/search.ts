/**
 * The query of an address. Everything in it is text that a person can read and write: `?runs=a,b&smooth=0.6`, not JSON.
 * A page describes its keys with the readers below; what an address holds besides, or cannot be read, is left out. No
 * library for schemas: it would be 7 KB of the first screen.
 */

export type SearchText = Record<string, string>

export function parseSearch(text: string): SearchText {
  return Object.fromEntries(new URLSearchParams(text))
}

/** Lists with commas between, a switch as `1`; what is empty or off is left out. */
export function stringifySearch(search: Record<string, unknown>): string {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(search)) {
    const text = textOf(value)
    if (text !== "") parameters.set(name, text)
  }
  // Commas, colons and slashes are plain in a query, and much of what a person reads there has them.
  const text = parameters.toString().replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%2F", "/")
  return text === "" ? "" : `?${text}`
}

function textOf(value: unknown): string {
  if (value === undefined || value === null || value === false) return ""
  if (value === true) return "1"
  if (Array.isArray(value)) return value.map((item) => escapeItem(String(item))).join(",")
  return typeof value === "string" || typeof value === "number" ? `${value}` : ""
}

/** Names of models and objects may hold commas: a backslash stands before each, and before each backslash. */
const escapeItem = (item: string) => item.replaceAll(/[\\,]/g, "\\$&")

/** The items of a list, as {@link stringifySearch} wrote it. */
function itemsOf(text: string): string[] {
  if (text === "") return []
  return Array.from(`,${text}`.matchAll(/,((?:\\.|[^\\,])*)/gs), ([, item = ""]) => item.replaceAll(/\\(.)/gs, "$1"))
}

/** Reads a value that a page set, or text from an address; undefined if it is missing or unreadable. */
type Reader<Value> = (given: unknown) => Value | undefined

type Keys = Readonly<Record<string, Reader<unknown>>>
type SearchOf<Of extends Keys> = { -readonly [Key in keyof Of]?: ReturnType<Of[Key]> | undefined }

/** Reads a page's keys from an address, for `validateSearch` of its route. */
export function searchKeys<const Of extends Keys>(keys: Of): (given: Record<string, unknown>) => SearchOf<Of> {
  return (given) => {
    const found = Object.entries(keys).map(([key, read]) => [key, read(given[key])] as const)
    return Object.fromEntries(found.filter(([, value]) => value !== undefined)) as SearchOf<Of>
  }
}

/** Text, or nothing. */
export const searchText: Reader<string> = (given) => (typeof given === "string" ? given : undefined)

/** A whole or broken number. */
export const searchNumber: Reader<number> = (given) => {
  const number = typeof given === "string" && given !== "" ? Number(given) : given
  return typeof number === "number" && Number.isFinite(number) ? number : undefined
}

/** On or off. */
export const searchSwitch: Reader<boolean> = (given) =>
  typeof given === "boolean" || typeof given === "string" ? given === true || given === "1" : undefined

/** Items with commas between. */
export const searchList: Reader<string[]> = (given) => {
  if (typeof given === "string") return itemsOf(given)
  return Array.isArray(given) ? given.filter((item) => typeof item === "string") : undefined
}

/** One of a few words. */
export function searchChoice<const Word extends string>(words: readonly Word[]): Reader<Word> {
  return (given) => words.find((word) => word === given)
}

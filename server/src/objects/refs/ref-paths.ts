/**
 * Where paths lead within one value. It is walked once for all of them, without making values of it: a request may name a
 * thousand elements of one list, and a path may lead through two hundred levels, each of which holds nearly all of the text.
 */
import { JsonCursor, stringOf } from "../../json/json-cursor.ts"
import { plainTask } from "../../threads/thread-task.ts"
import { type RefStep, tryParseRef } from "./refs.ts"

export interface PathsInput {
  /** JSON text. */
  value: string
  paths: readonly (readonly RefStep[])[]
}

/** Offsets of the text that a path leads to, or a ref that it met after `taken` steps; null: nothing is there. */
export type PathEnd = { from: number; to: number } | { ref: string; taken: number } | null

/** {@link endsOf}; a large value takes long, and is walked on another thread. */
export const refPathsTask = plainTask({
  name: "ref paths",
  ownThreadBytes: 64 * 1024,
  work: (input: PathsInput): { ends: PathEnd[] } => ({ ends: endsOf(input) }),
})

/** One for each path, in order. */
export function endsOf({ value, paths }: PathsInput): PathEnd[] {
  const walker = new PathWalker(value, paths.length)
  walker.visit(placesOf(paths), 0)
  return walker.ends
}

/** A place in a value to which paths lead. */
interface Place {
  /** Paths that end here. */
  ending: number[]
  /** Paths that go on. */
  leading: number[]
  /** By name. */
  members: Map<string, Place>
  /** By index; from the end of the list when negative. */
  elements: Map<number, Place>
}

const newPlace = (): Place => ({ ending: [], leading: [], members: new Map(), elements: new Map() })

function placesOf(paths: PathsInput["paths"]): Place {
  const root = newPlace()
  for (const [path, steps] of paths.entries()) {
    let place: Place | null = root
    for (const step of steps) {
      place.leading.push(path)
      place = placeBehind(place, step)
      if (place === null) break
    }
    place?.ending.push(path)
  }
  return root
}

/** null: no place within a value. A row of a table is found behind the table's ref alone. */
function placeBehind({ members, elements }: Place, { edge, value }: RefStep): Place | null {
  if (edge === "id") return null
  return edge === "index"
    ? elements.getOrInsertComputed(Number(value), newPlace)
    : members.getOrInsertComputed(value, newPlace)
}

class PathWalker {
  readonly ends: PathEnd[]
  readonly #cursor: JsonCursor

  constructor(value: string, paths: number) {
    this.#cursor = new JsonCursor(value)
    this.ends = Array.from({ length: paths }, () => null)
  }

  /** Consumes the value at the cursor, which is `depth` steps below the root. */
  visit(place: Place, depth: number): void {
    const cursor = this.#cursor
    const kind = cursor.kind()
    const from = cursor.at
    if (place.leading.length === 0) cursor.value()
    else if (kind === "object") this.#visitMembers(place, depth)
    else if (kind === "array") this.#visitElements(place, depth)
    else this.#meetScalar(place, cursor.value(), depth)
    for (const path of place.ending) this.ends[path] = { from, to: cursor.at }
  }

  #visitMembers({ members }: Place, depth: number): void {
    const cursor = this.#cursor
    if (!cursor.enterObject()) return
    do {
      const member = members.get(stringOf(cursor.key()))
      if (member === undefined) {
        cursor.value()
        continue
      }
      // Of equal names the last one counts.
      for (const path of member.leading) this.ends[path] = null
      this.visit(member, depth + 1)
    } while (cursor.nextMember())
  }

  #visitElements({ elements }: Place, depth: number): void {
    const cursor = this.#cursor
    if (!cursor.enterArray()) return
    const fromEnd = [...elements.keys()].filter((index) => index < 0)
    const starts: number[] = []
    let count = 0
    do {
      if (fromEnd.length > 0) starts.push(cursor.at)
      const element = elements.get(count++)
      if (element === undefined) cursor.value()
      else this.visit(element, depth + 1)
    } while (cursor.nextElement())
    const end = cursor.at
    for (const index of fromEnd) {
      const start = starts[count + index]
      const element = elements.get(index)
      if (start === undefined || element === undefined) continue
      cursor.at = start
      this.visit(element, depth + 1)
    }
    cursor.at = end
  }

  /** Paths lead on through a ref alone. */
  #meetScalar({ leading }: Place, text: string, depth: number): void {
    const ref = text.startsWith('"') ? stringOf(text) : ""
    if (tryParseRef(ref) === null) return
    for (const path of leading) this.ends[path] = { ref, taken: depth }
  }
}

/**
 * Texts of rows that follow one another in a table. A digest says nothing about where its row lies: any part of the store may
 * hold it, and to look a page up in ten parts takes four times as long as in the right one. Neighbours in a table mostly came
 * in one request and lie in one part, so two of them tell where to look for the others. What is not found there is looked for
 * everywhere: parts are merged at any time, and other servers may have other ones.
 */
import { keepRecent } from "./recently-used.ts"
import { partsOf, type PlacedText, type RowTexts, textsInParts } from "./table-rows.ts"
import type { QueryLimits, TraceStore } from "./store/trace-store.ts"

/** Of fewer rows it would take as long to find the part. */
const fewestRows = 8
/** Neighbourhoods whose parts are remembered. */
const mostKept = 1_000

/** Names of parts by neighbourhood, the most recently used last. */
const keptParts = new WeakMap<TraceStore, Map<string, readonly string[]>>()

/**
 * The texts of these rows; what is not stored is left out. `neighbourhood`: a name that rows share which lie together.
 * @throws {HeddleError} `query_memory` beyond the limits.
 */
export async function neighbouringTexts(
  traces: TraceStore,
  { projectId, neighbourhood }: { projectId: string; neighbourhood: string },
  digests: readonly string[],
  limits: QueryLimits,
): Promise<RowTexts> {
  const named = [...new Set(digests)]
  const kept = keptParts.getOrInsertComputed(traces, () => new Map())
  const readIn = async (parts: readonly string[]) =>
    parts.length === 0 ? [] : textsInParts(traces, projectId, named, parts, limits)
  let found = await readIn(kept.get(neighbourhood) ?? [])
  if (found.length === 0 && named.length >= fewestRows) {
    found = await readIn(await partsOf(traces, projectId, endsOf(named)))
  }
  const texts = new Map(found.map(({ digest, text }) => [digest, text]))
  const missing = named.filter((digest) => !texts.has(digest))
  const others = missing.length === 0 ? [] : await textsInParts(traces, projectId, missing, null, limits)
  for (const { digest, text } of others) texts.set(digest, text)
  keep(kept, neighbourhood, [...found, ...others])
  return texts
}

function endsOf(named: readonly string[]): string[] {
  return [named[0], named.at(-1)].filter((digest) => digest !== undefined)
}

function keep(kept: Map<string, readonly string[]>, neighbourhood: string, rows: readonly PlacedText[]): void {
  if (rows.length === 0) kept.delete(neighbourhood)
  else keepRecent(kept, neighbourhood, [...new Set(rows.map(({ part }) => part))], mostKept)
}

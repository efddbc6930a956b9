/**
 * The places at one end of time, read from where they ended last time. A read in the order of time begins in every part of the
 * table; as places are only added, those that are asked for never lie behind the last one of an earlier answer, and a part that
 * has no place up to there is not read.
 */
import { keepRecent } from "../recently-used.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceParameters, TraceStore } from "../store/trace-store.ts"
import { type CallKey, callKey, type StartsOf, type StoredKey, timeCandidates } from "./insert/call-places.ts"

type Direction = "asc" | "desc"

export interface Candidate extends CallKey {
  started_at: string
}

/** Ends that are remembered; each takes some 200 bytes. */
const mostKept = 1_000

/** The start of the last place of an answer, by what was asked for; the most recently used last. */
const keptEnds = new WeakMap<TraceStore, Map<string, string>>()

/** Rows that the first statement about an earlier answer reads for each place: a place may have been stored several times. */
const rowsOfPlace = 4

/** The `count` places at one end of time, each once; fewer: these are all. */
export async function nearestCandidates(
  traces: TraceStore,
  starts: StartsOf & { parameters: TraceParameters },
  direction: Direction,
  count: number,
): Promise<Candidate[]> {
  // Conditions on the start may name any moment: each would be remembered for itself.
  if (starts.startedAt !== null) return readCandidates(traces, starts, direction, count)
  const kept = keptEnds.getOrInsertComputed(traces, () => new Map())
  const name = `${starts.projectId}/${direction}/${count}`
  const end = kept.get(name)
  const near =
    end === undefined
      ? []
      : await readCandidates(traces, upTo(end, starts, direction), direction, count, count * rowsOfPlace)
  // The places of a deleted project go: then there are too few.
  const found = near.length === count ? near : await readCandidates(traces, starts, direction, count)
  keep(kept, name, found.length === count ? found.at(-1)?.started_at : undefined)
  return found
}

function upTo(
  end: string,
  { projectId, parameters }: { projectId: string; parameters: TraceParameters },
  by: Direction,
) {
  const own = new SqlParameters("e")
  const startedAt = `started_at ${by === "asc" ? "<=" : ">="} ${own.bind(end, "DateTime64(6, 'UTC')")}`
  return { projectId, startedAt, parameters: { ...parameters, ...own.values } }
}

function keep(kept: Map<string, string>, name: string, end: string | undefined): void {
  if (end === undefined) kept.delete(name)
  else keepRecent(kept, name, end, mostKept)
}

/**
 * A place that was stored twice, as the server does after a start to be sure, is two rows until they are merged. `rows`: of the
 * first statement; the next ones read more of them if they hold too few places.
 */
async function readCandidates(
  traces: TraceStore,
  { parameters, ...starts }: StartsOf & { parameters: TraceParameters },
  direction: Direction,
  count: number,
  rows = count,
): Promise<Candidate[]> {
  const own = new SqlParameters("n")
  const sql = timeCandidates(own, starts, direction, rows)
  const all = { ...parameters, ...own.values }
  const found = await traces.rows<StoredKey & Candidate>(sql, all, { few: true, kind: "lookup" })
  const places = found.filter(
    ({ id, started_at }, at) => id !== found[at - 1]?.id || started_at !== found[at - 1]?.started_at,
  )
  if (places.length < count && found.length === rows) {
    return readCandidates(traces, { parameters, ...starts }, direction, count, rows * rowsOfPlace)
  }
  return places.slice(0, count).map((place) => ({ ...callKey(place), started_at: place.started_at }))
}

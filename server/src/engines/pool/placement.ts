/**
 * Where a chat or a job goes among several engines. Chats that share a key stay together while their engine is not loaded
 * beyond a bound: rendezvous hashing with bounded loads (Mirrokni, Thorup and Zadimoghaddam, "Consistent Hashing with
 * Bounded Loads", SODA 2018), on those engines first that have the base model in memory.
 */
import { byRendezvous } from "./rendezvous.ts"

export interface EngineLoad {
  name: string
  /** `cold`: the base model's weights would have to be read first; `loading`: a chat has begun that. */
  base: "warm" | "loading" | "cold"
  /** Choices in its batch and in front of it. */
  choices: number
  /** Choices that its batch has at most. */
  rows: number
  memoryBytes: number
  jobs: number
}

export interface PlacedChat {
  /** Name of the base model. */
  base: string
  /** The same for chats that share a beginning. */
  key: string
  choices: number
}

/** How much more than the mean load an engine may have and still keep its chats together. */
const loadFactor = 1.25
/** Part of its rows up to which an engine takes its chats however idle others are: they cost it little. */
const easyShare = 1 / 8

/** The engine for a chat; null where there is none. Looks at each engine once or twice. */
export function placeChat<Load extends EngineLoad>(
  engines: readonly Load[],
  { base, key, choices }: PlacedChat,
): Load | null {
  const isEasy = boundOf(engines, choices)
  const among = (state: EngineLoad["base"]) => engines.filter((engine) => engine.base === state)
  const [warm, loading] = [among("warm"), among("loading")]
  const having = warm.length > 0 ? warm : loading
  const own = byRendezvous(having.filter(isEasy), key, ({ rows }) => rows)[0]
  if (own !== undefined) return own
  // A chat that brings another engine up waits for the weights, so one chat does, and not each that finds the others busy.
  const cold = loading.length > 0 ? [] : among("cold").filter(isEasy)
  const next = byRendezvous(cold, base, ({ memoryBytes }) => memoryBytes)[0]
  return next ?? leastLoaded(having.length > 0 ? having : engines)
}

function boundOf(engines: readonly EngineLoad[], choices: number): (engine: EngineLoad) => boolean {
  let load = choices
  let rows = 0
  for (const engine of engines) {
    load += engine.choices
    rows += engine.rows
  }
  const perRow = Math.max((loadFactor * load) / rows, easyShare)
  return (engine) => engine.choices < perRow * engine.rows
}

function leastLoaded<Load extends EngineLoad>(engines: readonly Load[]): Load | null {
  return minimum(engines, ({ choices, rows }) => choices / rows)
}

/** The engine for a job that none has begun: the one with the fewest jobs. null where none has room for one more. */
export function placeJob<Load extends EngineLoad>(
  engines: readonly Load[],
  { key, mostJobs }: { key: string; mostJobs: number },
): Load | null {
  const room = engines.filter(({ jobs }) => jobs < mostJobs)
  const preferred = byRendezvous(room, key, () => 1)
  return minimum(preferred, ({ jobs, base }) => 2 * jobs + (base === "warm" ? 0 : 1))
}

/** The first of those with the smallest value. */
function minimum<Item>(items: readonly Item[], valueOf: (item: Item) => number): Item | null {
  let best: { item: Item; value: number } | null = null
  for (const item of items) {
    const value = valueOf(item)
    if (best === null || value < best.value) best = { item, value }
  }
  return best?.item ?? null
}

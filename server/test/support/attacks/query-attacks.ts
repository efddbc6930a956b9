/** H5: heavy queries, whose clients wait or leave at once. */
import {
  type Attack,
  type AttackRequest,
  type BySize,
  type Ground,
  json,
  type Manner,
  type Size,
  times,
} from "./attack.ts"
import { postWell } from "./teams.ts"

const stored: BySize = { full: 30_000, small: 4_000 }
const callsOfBatch = 1_000

async function storeCalls({ url, attacker }: Ground, size: Size): Promise<void> {
  for (let first = 0; first < stored[size]; first += callsOfBatch) {
    const batch = times(callsOfBatch, (n) => callOf(attacker.project, first + n))
    await postWell(url, attacker.key, `/v2/${attacker.project}/calls/complete`, { batch })
  }
}

function callOf(project_id: string, n: number): object {
  const id = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`
  const when = { started_at: "2026-01-01T00:00:00Z", ended_at: "2026-01-01T00:00:01Z" }
  const words = times(120, (word) => `word${(n * 31 + word * 17) % 997}`)
  const keys = Object.fromEntries(sortKeys.map((key, place) => [key, (n * 7919 + place) % 1_000]))
  const inputs = { text: words.join(" "), ...keys }
  return { project_id, id, trace_id: id, op_name: "op", ...when, attributes: {}, inputs, output: null, summary: {} }
}

const sortKeys = times(9, (n) => `key${n}`)

function heavyQuery(project_id: string): object {
  const contains = times(12, (n) => ({
    $contains: {
      input: { $getField: "inputs.text" },
      substr: { $literal: `NO SUCH TEXT ${n}` },
      case_insensitive: true,
    },
  }))
  return {
    project_id,
    query: { $expr: { $not: [{ $or: contains }] } },
    sort_by: sortKeys.map((key) => ({ field: `inputs.${key}`, direction: "desc" })),
    columns: ["id"],
    limit: 10,
  }
}

function heavyQueries(name: string, does: string, connections: BySize, manner: Manner): Attack {
  return {
    name,
    does,
    answers: [200],
    // Queries of clients that leave are stopped soon.
    lasts: manner === "leaves" ? "shortly" : "a while",
    requests: async (ground, size) => {
      await storeCalls(ground, size)
      const body = json(heavyQuery(ground.attacker.project))
      return times(connections[size], (): AttackRequest => ({ path: "/calls/stream_query", body, manner }))
    },
  }
}

export const queryAttacks: readonly Attack[] = [
  heavyQueries("H5-at-once", "heavy queries, many at once", { full: 50, small: 20 }, "reads"),
  heavyQueries("H5-leaving", "clients that send a heavy query and close", { full: 40, small: 20 }, "leaves"),
]

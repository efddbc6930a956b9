/** Measures how fast many annotators at once get and finish items of a long annotation queue over HTTP. */
import { setTimeout } from "node:timers/promises"
import { type Annotator, newAnnotators } from "./harness/annotators.ts"
import { startHeddle } from "./harness/heddle-server.ts"
import { progress, quantile } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { callsIn, PROJECT_ID } from "./harness/read-cases.ts"
import { fillCalls } from "./harness/read-heddle.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Items of the queue. */
  items: { type: "string", default: "100000" },
  /** Annotators who ask for items at once. */
  annotators: { type: "string", default: "20" },
  /** Items that are worked on. */
  finished: { type: "string", default: "5000" },
  /** Milliseconds that an annotator looks at an item; 0: as fast as the server answers. */
  pause: { type: "string", default: "100" },
} as const

export async function run(given: Options): Promise<Findings> {
  const [items, annotators] = [count(given, "items"), count(given, "annotators")]
  const [finished, pause] = [count(given, "finished"), Number(given["pause"])]
  const folder = temporaryFolder()
  await using server = await startHeddle(folder, { engine: "none" })
  await fillCalls(server, 0, items)
  const { id } = await server.post<{ id: string }>("/annotation_queues", {
    project_id: PROJECT_ID,
    name: "bench",
    scorer_refs: [],
    required_annotators: 1,
  })
  const began = performance.now()
  const body = { project_id: PROJECT_ID, call_ids: callsIn(items), display_fields: ["inputs"] }
  const { added_count: added } = await server.post<{ added_count: number }>(`/annotation_queues/${id}/items`, body)
  if (added !== items) throw new Error(`${added} of ${items} calls were added`)
  const addingSeconds = (performance.now() - began) / 1000
  progress(`${items} calls added in ${addingSeconds.toFixed(1)} s`)
  const people = await newAnnotators(server, annotators)
  const work = await label(people, id, { finished, pause })
  for (const person of people) person.close()
  const deciles = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((decile) => p99(slice(work.nextMs, decile, 10)))
  return {
    method: [
      `A queue of ${items} items, one annotator to an item. ${annotators} annotators, each with a connection of their own, ask for the next item, look at it for ${pause} ms and complete it, again and again, until ${finished} are done.`,
      "Each figure: from sending the request to the last byte of its answer.",
      "Every item that is handed out is noted: the run fails when one is handed out twice.",
    ],
    versions: {},
    settings: { items, annotators, finished, pause },
    measurements: [
      measurement("adding calls", "items/s", [items / addingSeconds]),
      measurement("next and complete", "items/s", [finished / work.seconds]),
      measurement("next item, median", "ms", [quantile(work.nextMs, 0.5)]),
      measurement("next item, p99 of each tenth of the run", "ms", deciles),
      measurement("complete, median", "ms", [quantile(work.completeMs, 0.5)]),
      measurement("complete, p99", "ms", [p99(work.completeMs)]),
    ],
    bars: [
      atMost("p99 of the next item", 30, p99(work.nextMs), "ms"),
      atMost("items handed out twice", 0, work.twice, "items"),
    ],
    caveats: [],
  }
}

interface Work {
  seconds: number
  nextMs: number[]
  completeMs: number[]
  /** Items that were handed out twice. */
  twice: number
}

async function label(
  people: readonly Annotator[],
  queueId: string,
  { finished, pause }: { finished: number; pause: number },
): Promise<Work> {
  const work: Work = { seconds: 0, nextMs: [], completeMs: [], twice: 0 }
  const seen = new Set<string>()
  const url = `/annotation_queues/${queueId}/items`
  let started = 0
  const annotate = async (person: Annotator) => {
    while (started++ < finished) {
      const sentAt = performance.now()
      const { item } = await person.post<{ item: { id: string } | null }>(`${url}/next`, { project_id: PROJECT_ID })
      work.nextMs.push(performance.now() - sentAt)
      if (item === null) throw new Error(`nothing was handed out after ${seen.size} items`)
      if (seen.has(item.id)) work.twice++
      seen.add(item.id)
      if (pause > 0) await setTimeout(pause)
      const done = performance.now()
      const body = { project_id: PROJECT_ID, annotation_state: "completed" }
      await person.post(`${url}/${item.id}/progress`, body)
      work.completeMs.push(performance.now() - done)
      if (seen.size % 10_000 === 0) progress(`${seen.size} of ${finished} items done`)
    }
  }
  const began = performance.now()
  await Promise.all(people.map(annotate))
  work.seconds = (performance.now() - began) / 1000
  return work
}

function slice(values: number[], part: number, parts: number): number[] {
  return values.slice(Math.floor((part * values.length) / parts), Math.floor(((part + 1) * values.length) / parts))
}

const p99 = (values: number[]) => quantile(values, 0.99)

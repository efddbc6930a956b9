/** Sources of rows. `app.ts` hands over the sources that need another area. */
import type { ProjectAccess } from "../../access/project-access.ts"
import type { Principal } from "../../http/principal.ts"
import type { MapResult, RowExtra } from "./map-rows-task.ts"

/** Rows that need no mapping, such as those of rollouts, which were stored as what they are. */
export interface ReadyChunk {
  ready: MapResult
  /** Names of models in `captured` of the rows: which of them are the job's own is told to the engine. */
  capturedModels: readonly string[]
}

export type Chunk = RowChunk | ReadyChunk

/** Rows that are mapped together. */
export interface RowChunk {
  /** See `map-rows-task.ts`. */
  lines: Buffer
  extras: Record<string, RowExtra> | null
  /** Ids that a line was looked for, should one have gone; null: they are those of the lines. */
  wanted: readonly string[] | null
}

/** A call of a queue, with its labels. */
export interface LabelledCall {
  callId: string
  /** Texts of the fields that are decided, or that all annotators agree on. */
  fields: Record<string, string>
  disputed: string[]
  feedbackIds: string[]
  /** Nobody has finished with it. */
  isUnlabelled: boolean
}

export interface AreaSources {
  /** A chunk at a time. @throws {HeddleError} `not_found` for a queue that is not there, also one that goes meanwhile. */
  queueLabels: (principal: Principal, project: ProjectAccess, queueId: string) => AsyncIterable<LabelledCall[]>
  /** A chunk of rows at a time. `digest` null: the latest version. @throws {HeddleError} `not_found`. */
  datasetRows: (
    project: ProjectAccess,
    name: { objectId: string; digest: string | null },
  ) => AsyncIterable<{ digest: string; text: string }[]>
}

/** Bytes of a chunk, but for a line that is longer. */
const chunkBytes = 1024 * 1024
/** Size of the chunks in which the ledger is queried: a query costs about the same for few answers as for many. */
const answersBytes = 16 * 1024 * 1024

export const bytesOfChunks = (kind: "sft" | "rl" | "dpo") => (kind === "rl" ? answersBytes : chunkBytes)

/** Whole lines of a stream, some at a time. */
export async function* wholeLines(stream: AsyncIterable<Buffer>, bytesAtOnce = chunkBytes): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let bytes = 0
  for await (const piece of stream) {
    held.push(piece)
    bytes += piece.length
    if (bytes < bytesAtOnce || !piece.includes(lineFeed)) continue
    const all = Buffer.concat(held, bytes)
    const end = all.lastIndexOf(lineFeed) + 1
    // A copy: the memory of the lines may be moved to a thread.
    held = end === all.length ? [] : [Buffer.from(all.subarray(end))]
    bytes = all.length - end
    yield all.subarray(0, end)
  }
  if (bytes > 0) yield Buffer.concat(held, bytes)
}

const lineFeed = 10

/**
 * Bodies that write calls: evaluation-store-calls 2. Those that carry payloads are read by
 * `calls/write/call-item.ts`, which leaves the payloads as text; their schemas here are for the
 * document. Unknown fields are ignored: npm weave 0.11.1 sends `display_name` with an end.
 */
import { z } from "zod"
import { wellFormed } from "../well-formed.ts"
import { orDefault } from "../or-default.ts"

const free = z.record(z.string(), z.unknown())
const time = z.iso.datetime({ offset: true, local: true })

export const startedCall = z.object({
  project_id: z.string(),
  id: z.string().nullish(),
  op_name: z.string(),
  display_name: z.string().nullish(),
  trace_id: z.string().nullish(),
  parent_id: z.string().nullish(),
  thread_id: z.string().nullish(),
  turn_id: z.string().nullish(),
  started_at: time,
  attributes: free,
  inputs: free,
  otel_dump: free.nullish(),
  /** Ignored: it is the user of the key. */
  wb_user_id: z.string().nullish(),
  wb_run_id: z.string().nullish(),
  wb_run_step: z.int().nullish(),
})

export const endedCall = z.object({
  project_id: z.string(),
  id: z.string(),
  trace_id: z.string().nullish(),
  is_eval: z.boolean().nullish(),
  /** Not stored: it is the start that tells when a call started. */
  started_at: time.nullish(),
  ended_at: time,
  exception: z.string().nullish(),
  output: z.unknown(),
  summary: free,
  wb_run_step_end: z.int().nullish(),
})

export const completedCall = startedCall.extend({
  id: z.string(),
  trace_id: z.string(),
  ended_at: time,
  exception: z.string().nullish(),
  output: z.unknown(),
  summary: free,
  wb_run_step_end: z.int().nullish(),
})

export const callStartBody = z.object({ start: startedCall })
export const callEndBody = z.object({ end: endedCall })
export const callUpsertBody = z.object({
  batch: z.array(
    z.union([
      z.object({ mode: orDefault(z.literal("start"), "start"), req: callStartBody }),
      z.object({ mode: orDefault(z.literal("end"), "end"), req: callEndBody }),
    ]),
  ),
})
export const callsCompleteBody = z.object({ batch: z.array(completedCall) })

export const callStarted = z.object({ id: z.string(), trace_id: z.string() })
export const emptyAnswer = z.object({})
export const callsUpserted = z.object({ res: z.array(z.union([callStarted, emptyAnswer])) })

export const callUpdateBody = z.object({
  project_id: z.string(),
  call_id: wellFormed,
  /** An empty one clears the name. */
  display_name: z.string().nullish(),
  wb_user_id: z.string().nullish(),
})

export const callsDeleteBody = z.object({
  project_id: z.string(),
  call_ids: z.array(z.string()),
  wb_user_id: z.string().nullish(),
})
export const callsDeleted = z.object({ num_deleted: z.int() })

export const projectParams = z.object({ entity: z.string(), project: z.string() })

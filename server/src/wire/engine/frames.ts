/**
 * The protocol between the server and an engine process.
 *
 * Transport: a byte stream (Unix socket, or TCP with a token) of frames. A frame is a 4-byte
 * big-endian length followed by that many bytes of UTF-8 JSON, at most {@link MAX_FRAME_BYTES}, and
 * {@link MAX_CALL_BYTES} towards the engine.
 * Many calls share one connection, told apart by `id`, which the server chooses.
 *
 *   server → engine   { id, method, params }          one call
 *   engine → server   { id, event, data }             zero or more, in order, while the call runs
 *   engine → server   { id, result } | { id, error }  exactly one, last
 *   engine → server   { event: "heartbeat", data }    belongs to no call; every 2 s
 *
 * Unknown fields are ignored on both sides, so either may be the newer one. Big inputs travel as
 * files, never as frames. A closed connection cancels every call made on it except training,
 * which stops at the next gradient step and keeps its last snapshot.
 */
import { z } from "zod"

export const PROTOCOL_VERSION = 1
export const MAX_FRAME_BYTES = 64 * 1024 * 1024
/** Calls are smaller: while one is parsed, no other chat of the engine goes on. */
export const MAX_CALL_BYTES = 32 * 1024 * 1024

/**
 * Why a call failed. `invalid`: the input is wrong and would be wrong again. `not_found`: a file,
 * folder or base model that was named is not there. `out_of_memory`, `disk_full`: the machine's
 * limits. `cancelled`: asked for by the server. `unavailable`: the engine cannot take calls now
 * (starting, draining) or, where `param` names something, cannot get that now. `internal`: a
 * defect; the engine's log has the traceback.
 */
export const engineErrorKind = z.enum([
  "invalid",
  "not_found",
  "out_of_memory",
  "disk_full",
  "cancelled",
  "unavailable",
  "internal",
])

/** Tokens that a chat has used. */
export const chatUsage = z.object({
  prompt_tokens: z.int(),
  cached_tokens: z.int(),
  /** Over all choices. */
  completion_tokens: z.int(),
})

export const engineError = z.object({
  kind: engineErrorKind,
  message: z.string(),
  /** The request field at fault, in the caller's words (`temperature`, `tools[0]`), when there is one. */
  param: z.string().nullable().default(null),
  /** Usage of a started `chat` until it failed or was cancelled. The events of a stream have reported it already. */
  usage: chatUsage.nullable().default(null),
})

export const callFrame = z.object({ id: z.int(), method: z.string(), params: z.unknown() })
export const eventFrame = z.object({ id: z.int(), event: z.string(), data: z.unknown() })
export const resultFrame = z.object({ id: z.int(), result: z.unknown() })
export const errorFrame = z.object({ id: z.int(), error: engineError })

export const heartbeat = z.object({
  /** Chats admitted and being generated. */
  running: z.int(),
  /** Choices waiting for a place in the batch, and chats that are being prepared for it. */
  waiting: z.int(),
  /** Training jobs in progress. */
  training: z.int(),
  /** Base models whose weights are being read. */
  loading: z.int(),
  /** Counts what was done (batch steps, layers of training, tensors read); a value that stands still while there is work is a hang. */
  progress: z.int(),
  resident_bytes: z.int(),
  /** Base models whose weights are in memory, by each name they were asked for. */
  bases: z.array(z.string()).optional(),
})
export const heartbeatFrame = z.object({ event: z.literal("heartbeat"), data: heartbeat })

export type EngineErrorKind = z.infer<typeof engineErrorKind>
export type ChatUsage = z.infer<typeof chatUsage>
export type EngineError = z.infer<typeof engineError>
export type Heartbeat = z.infer<typeof heartbeat>

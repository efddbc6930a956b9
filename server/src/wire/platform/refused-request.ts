/** Requests that were refused lately. No public service has this call; the shape is ours. */
import { z } from "zod"
import { listOf } from "./account.ts"

export const refusedRequest = z.object({
  /** As in the answer's `x-request-id`. */
  id: z.string(),
  object: z.literal("refused_request"),
  time: z.iso.datetime(),
  method: z.string(),
  path: z.string(),
  status: z.int(),
  code: z.string(),
  message: z.string(),
  user_agent: z.string(),
  /** false: it brought no key, or one that is not known. */
  is_authenticated: z.boolean(),
})

export const refusedRequestList = listOf(refusedRequest)

export type RefusedRequest = z.infer<typeof refusedRequest>

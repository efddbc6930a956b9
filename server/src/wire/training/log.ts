/** Logging trajectories: training-api 2.4. */
import { z } from "zod"
import { storable } from "../well-formed.ts"
import { trajectoryGroup } from "./trajectory.ts"

/** The body but for `trajectory_groups`, which is read as a stream. openpipe-art 0.5.7 repeats `model_id` here. */
export const logFields = z.looseObject({
  /** `train`, `val`, `test`, `discarded`, or any other word. */
  split: storable.regex(/^[^/\p{Cc}]{1,64}$/u, "a split has 1 to 64 characters, and no / among them"),
})

/** For the reference page. */
export const logBody = logFields.extend({ trajectory_groups: z.array(trajectoryGroup) })

/** Clients throw the answer away. */
export const logAnswer = z.object({ step: z.int(), metrics: z.record(z.string(), z.number()) })

export type LogAnswer = z.infer<typeof logAnswer>

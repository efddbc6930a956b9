/** Health endpoints: training-api 1.5. */
import { z } from "zod"

export const health = z.object({
  /** `degraded`: requests are served, but writes may be refused; the reason says why and what to do. */
  status: z.enum(["ok", "degraded"]),
  reason: z.string().optional(),
})

const component = z.object({
  success: z.boolean(),
  /** Seconds. */
  duration: z.number(),
  error: z.string().nullable(),
})

export const systemCheck = z.object({
  api: z.literal(true),
  database: z.boolean(),
  /** The thread that reads and checks training data. */
  cpu_queue: component,
  /** The engine; of several, whether one of them works. */
  gpu_queue: component,
  /** Room on the disk of the data folder. */
  disk: component,
  /** Each engine, in the order of the settings. */
  engines: z.array(component),
})

export type Health = z.infer<typeof health>
export type SystemCheck = z.infer<typeof systemCheck>
export type ComponentCheck = z.infer<typeof component>

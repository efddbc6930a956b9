/** Reading what refs name: evaluation-store-objects 9. */
import { z } from "zod"

export const refsReadBody = z.object({ refs: z.array(z.string()) })

export const refsRead = z.object({ vals: z.array(z.unknown()) })

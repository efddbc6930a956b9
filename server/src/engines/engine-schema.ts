/** The engine protocol as JSON Schema, for the engine's own tests. */
import { z } from "zod"
import { engineError, heartbeat, MAX_CALL_BYTES, MAX_FRAME_BYTES, PROTOCOL_VERSION } from "../wire/engine/frames.ts"
import { engineMethods } from "../wire/engine/methods.ts"

/** Method → schemas of what the engine receives (`params`) and sends (`events`, `result`). */
export function engineSchemaText(): string {
  const methods = Object.entries(engineMethods).map(([name, method]) => [
    name,
    {
      params: z.toJSONSchema(method.params, { io: "input" }),
      events: Object.fromEntries(
        Object.entries(method.events).map(([event, schema]) => [event, z.toJSONSchema(schema, { io: "input" })]),
      ),
      result: z.toJSONSchema(method.result, { io: "input" }),
    },
  ])
  const document = {
    protocol: PROTOCOL_VERSION,
    max_frame_bytes: MAX_FRAME_BYTES,
    max_call_bytes: MAX_CALL_BYTES,
    error: z.toJSONSchema(engineError, { io: "input" }),
    heartbeat: z.toJSONSchema(heartbeat, { io: "input" }),
    methods: Object.fromEntries(methods),
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

/** Maps spans again that are stored already, as a task that may run on another thread. */
import type { CallBatch } from "../../storage/traces/calls/insert/call-batch.ts"
import type { OtelDump } from "../../storage/traces/calls/otel-dumps.ts"
import { plainTask } from "../../threads/thread-task.ts"
import type { SpanOwner } from "./otlp/otlp-input.ts"
import { SpanRows } from "./spans/span-rows.ts"
import { spanOf } from "./spans/span-undump.ts"
import { spansOwnThreadBytes } from "./trace-export.ts"

export interface RemapInput {
  dumps: readonly OtelDump[]
  owner: SpanOwner
  bytes: number
}

/** A value that is not a span of ours is returned unchanged. */
export const remapTask = plainTask({
  name: "otel/remap",
  ownThreadBytes: spansOwnThreadBytes,
  work: ({ dumps, owner, bytes }: RemapInput): CallBatch & { remapped: number } => {
    const rows = new SpanRows(dumps.length, bytes)
    let remapped = 0
    for (const { id, sort_time, text } of dumps) {
      const span = spanOf(text)
      if (span?.spanId !== id) continue
      rows.addMapping(span, sort_time, owner)
      remapped++
    }
    return { ...rows.batch(), remapped }
  },
})

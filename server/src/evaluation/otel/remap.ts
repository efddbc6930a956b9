/**
 * Maps spans again that are stored already, with the names of attributes that are known now: their
 * raw spans are read back, and what they mean is written over what they meant.
 */
import type { Principal } from "../../http/principal.ts"
import { readOtelDumps } from "../../storage/traces/calls/otel-dumps.ts"
import type { EvaluationDependencies } from "../dependencies.ts"
import { projectForRead } from "../project-access.ts"
import { SpanRows } from "./span-rows.ts"
import { spanOf } from "./span-undump.ts"

/** A span may take megabytes, and in memory it is several times as large. */
const bytesAtOnce = 16 * 1024 * 1024

/** @returns how many calls were written. @throws {HeddleError} 403. */
export async function remapSpans(
  { database, traces, writer }: EvaluationDependencies,
  principal: Principal,
  projectName: string,
): Promise<number> {
  const project = await projectForRead(database, principal, projectName)
  let remapped = 0
  for (let after = ""; ;) {
    const dumps = await readOtelDumps(traces, project.id, after, bytesAtOnce)
    const last = dumps.at(-1)
    if (last === undefined) return remapped
    const rows = new SpanRows(dumps.length)
    for (const { id, text } of dumps) {
      const span = spanOf(text)
      if (span?.spanId !== id) continue
      rows.addMapping(span, project)
      remapped++
    }
    await writer.add(rows.batch())
    after = last.id
  }
}

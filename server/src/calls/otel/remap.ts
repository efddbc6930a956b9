/**
 * Maps spans again that are stored already, with the names of attributes that are known now: their
 * raw spans are read back, and what they mean is written over what they meant.
 */
import type { Principal } from "../../http/principal.ts"
import type { CallKey } from "../../storage/traces/calls/insert/call-places.ts"
import { type OtelDump, readOtelDumps } from "../../storage/traces/calls/otel-dumps.ts"
import type { CallDependencies } from "../dependencies.ts"
import { noLookups } from "../../threads/thread-task.ts"
import { existingProject } from "../../access/project-access.ts"
import { remapTask } from "./remap-task.ts"

/** A span may take megabytes, and in memory it is several times as large. */
const bytesAtOnce = 16 * 1024 * 1024

/** @returns how many calls were written. @throws {HeddleError} 403. */
export async function remapSpans(
  { database, traces, writer, threads }: CallDependencies,
  principal: Principal,
  projectName: string,
): Promise<number> {
  const { id, name, userId } = await existingProject(database, principal, projectName)
  let count = 0
  for (let after: CallKey | null = null; ;) {
    const dumps: OtelDump[] = await readOtelDumps(traces, id, after, bytesAtOnce)
    const last = dumps.at(-1)
    if (last === undefined) return count
    const bytes = dumps.reduce((sum, { text }) => sum + text.length, 0)
    const input = { dumps, owner: { id, name, userId }, bytes }
    const { remapped, ...batch } = await threads.run(remapTask, input, { bytes, answer: noLookups })
    await writer.add(batch)
    count += remapped
    after = last
  }
}

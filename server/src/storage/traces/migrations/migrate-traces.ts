/**
 * Brings a trace store of an earlier version up to date. `create table if not exists` makes what is
 * missing; a step changes what is there.
 *
 * ClickHouse has no lock and no transaction over statements: servers that start at once may all run a
 * step, and one may die within it. So a step looks at what is there, and to run it again, or by two at
 * once, leads to the same tables.
 */
import { setTimeout } from "node:timers/promises"
import type { TraceStore } from "../store/trace-store.ts"
import { plainOddJson } from "./0001-plain-odd-json.ts"
import { placesOfEarlierCalls } from "./0002-places-of-earlier-calls.ts"

export interface TraceMigration {
  name: string
  /** May run several times, also at once. */
  run(traces: TraceStore): Promise<void>
}

/** In order; the version of a store is how many of them it has had. */
const migrations: readonly TraceMigration[] = [plainOddJson, placesOfEarlierCalls]

const versionTable = `create table if not exists trace_schema (
    version UInt32,
    name String,
    applied_at DateTime64(3, 'UTC') default now64(3)
  ) engine = MergeTree order by version`

/** A step fails when another server is at the same moment within it; by then its part may be done. */
const attempts = 5
const pauseMs = 500

/**
 * The tables must be there.
 * @throws {Error} with a sentence for the operator when the store is of a later version.
 */
export async function migrateTraces(traces: TraceStore, steps = migrations): Promise<void> {
  await traces.command(versionTable)
  const version = await versionOf(traces)
  if (version > steps.length) {
    throw new Error(
      `the trace store was written by a later version of Heddle (its schema is ${version}, this one knows ${steps.length}); start that version`,
    )
  }
  for (const [index, step] of steps.entries()) {
    if (index < version) continue
    await runStep(traces, step)
    const row = JSON.stringify({ version: index + 1, name: step.name })
    await traces.insert("trace_schema", row)
  }
}

async function versionOf(traces: TraceStore): Promise<number> {
  const [row] = await traces.rows<{ version: number }>("select max(version) as version from trace_schema")
  return row?.version ?? 0
}

async function runStep(traces: TraceStore, step: TraceMigration): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await step.run(traces)
    } catch (cause) {
      if (attempt === attempts) {
        throw new Error(`the trace store cannot be brought up to date (${step.name}): ${(cause as Error).message}`, {
          cause,
        })
      }
      await setTimeout(pauseMs)
    }
  }
}

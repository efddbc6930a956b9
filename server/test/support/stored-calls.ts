/** Calls put straight into the trace store, as the write routes store them. */
import { ensureProject, findProject } from "../../src/storage/catalog/projects.ts"
import { placeLines } from "../../src/storage/traces/calls/call-places.ts"
import { oddJsonMember } from "../../src/storage/traces/calls/calls-tables.ts"
import { insertCalls } from "../../src/storage/traces/calls/calls-write.ts"
import type { App } from "../../src/app.ts"
import { holdsUnreadable } from "./unreadable-json.ts"

export interface StoredCall {
  id: string
  started_at?: string
  trace_id?: string
  /** JSON texts. */
  inputs?: string
  output?: string
  attributes?: string
  summary?: string
  [column: string]: unknown
}

const payloads = new Set(["inputs", "output", "attributes", "summary", "otel_dump"])

/** Stores partial rows of calls; a row without `started_at` is an end, an update or a deletion. */
export async function storeCalls(app: App, projectName: string, calls: readonly StoredCall[]): Promise<void> {
  const projectId = await projectIdOf(app, projectName)
  const rows = calls.map((call) => {
    const members = Object.entries({ project_id: projectId, ...call }).map(
      ([name, value]) => `"${name}":${payloads.has(name) ? `[${value}]` : JSON.stringify(value)}`,
    )
    const odd = Object.entries(call).some(([name, value]) => payloads.has(name) && holdsUnreadable(String(value)))
    return `{${members.join(",")}${odd ? oddJsonMember : ""}}`
  })
  const places = calls.flatMap(({ id, trace_id, started_at }) =>
    started_at === undefined ? [] : placeLines({ project_id: projectId, id, trace_id: trace_id ?? "", started_at }),
  )
  await insertCalls(app.stores.traces, [
    { rows: Buffer.from(rows.map((row) => `${row}\n`).join("")), places: Buffer.from(places.join("")) },
  ])
}

async function projectIdOf(app: App, projectName: string): Promise<string> {
  const [entity = "", project = ""] = projectName.split("/")
  const { catalog } = app.stores
  const row = await catalog.selectFrom("entities").select("id").where("name", "=", entity).executeTakeFirstOrThrow()
  return (await findProject(catalog, row.id, project)) ?? ensureProject(catalog, row.id, project)
}

/** Puts calls straight into the trace store, in the form in which the write routes store them. */
import { ensureProject, findProject } from "../../src/storage/catalog/accounts/projects.ts"
import { CallBatchBuilder } from "../../src/storage/traces/calls/insert/call-batch.ts"
import type { App } from "../../src/app.ts"
import { holdsUnreadable } from "./unreadable-json.ts"

export interface StoredCall {
  id: string
  started_at?: string
  trace_id?: string
  /** Payloads as JSON texts. */
  inputs?: string
  output?: string
  attributes?: string
  summary?: string
  [column: string]: string | number | null | undefined
}

const payloads = new Set(["inputs", "output", "attributes", "summary", "otel_dump"])

/** Stores partial rows of calls; a row without `started_at` is an end, an update or a deletion. */
export async function storeCalls(app: App, projectName: string, calls: readonly StoredCall[]): Promise<void> {
  const projectId = await projectIdOf(app, projectName)
  const rows = new CallBatchBuilder(1024)
  for (const { id, ...columns } of calls) {
    const texts = Object.fromEntries(
      Object.entries(columns).flatMap(([name, value]) =>
        value == null || payloads.has(name) ? [] : [[name, String(value)]],
      ),
    )
    const json = Object.fromEntries(Object.entries(columns).filter(([name]) => payloads.has(name)))
    const isOdd = Object.values(json).some((text) => holdsUnreadable(String(text)))
    rows.add({ projectId, id }, texts, json, { isOdd, isKnown: true })
  }
  await app.stores.callWriter.add(rows.batch())
}

async function projectIdOf(app: App, projectName: string): Promise<string> {
  const [entity = "", project = ""] = projectName.split("/")
  const { catalog } = app.stores
  const row = await catalog.selectFrom("entities").select("id").where("name", "=", entity).executeTakeFirstOrThrow()
  return (await findProject(catalog, row.id, project)) ?? ensureProject(catalog, row.id, project)
}

/** Writing calls: whose they are, what the server makes, in which order it is stored (evaluation-store-calls 2.3). */
import { randomUUIDv7 } from "node:crypto"
import { HeddleError } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import type { CallWriter } from "../../storage/traces/calls/calls-write.ts"
import type { CallBody } from "./call-body.ts"
import type { CallItem } from "./call-item.ts"
import { fieldAt } from "./call-fields.ts"
import { type CallIds, type CallOwner, CallRows } from "./call-rows.ts"
import { checkCall } from "./call-rules.ts"
import { projectForWrite } from "../project-access.ts"

/**
 * Stores all calls of the body or none.
 * @param pathProject the `entity/project` of a v2 path, which every call must name; null: none.
 * @returns for each item its ids; null for an end.
 * @throws {HeddleError} 400, 403, 413, 503.
 */
export async function writeCalls(
  { database, writer }: { database: CatalogDatabase; writer: CallWriter },
  principal: Principal,
  body: CallBody,
  pathProject: string | null,
): Promise<(CallIds | null)[]> {
  const owners = new Map<string, CallOwner>()
  for (const item of body.items) {
    checkCall(item)
    const name = projectOf(item)
    if (pathProject !== null && name !== pathProject) throw otherProject(name, pathProject)
    if (!owners.has(name)) owners.set(name, await ownerOf(database, principal, name))
  }
  const rows = new CallRows(body)
  const ids = body.items.map((item) => {
    const made = idsOf(item)
    rows.add(item, owners.get(projectOf(item)) as CallOwner, made)
    return made
  })
  await writer.add(rows.batch())
  return ids
}

async function ownerOf(database: CatalogDatabase, principal: Principal, name: string): Promise<CallOwner> {
  const { id, userId } = await projectForWrite(database, principal, name)
  return { projectId: id, userId }
}

/** An item that was read without findings has one. */
function projectOf({ values }: CallItem): string {
  return values[fieldAt.projectId] as string
}

/** Those of a start, made where they are absent. */
function idsOf({ form, values }: CallItem): CallIds | null {
  if (form === "end") return null
  return { id: values[fieldAt.id] ?? randomUUIDv7(), trace_id: values[fieldAt.traceId] ?? randomUUIDv7() }
}

function otherProject(name: string, pathProject: string): HeddleError {
  return new HeddleError("bad_request", `a call has the project_id "${name}", but the path names "${pathProject}"`)
}

/** From the body of a request to stored rows of calls, as a task that may run on another thread. */
import { randomUUIDv7 } from "node:crypto"
import { HeddleError } from "../../errors.ts"
import type { CallBatch } from "../../storage/traces/calls/insert/call-batch.ts"
import { threadTask } from "../../threads/thread-task.ts"
import { findProjectId, ensureProjectIds, type PayloadLookup } from "../../objects/payload/payload-lookups.ts"
import { type CallBody, type CallEnvelope, readCalls } from "./call-body.ts"
import { fieldAt } from "./call-fields.ts"
import type { CallItem } from "./call-item.ts"
import { type CallIds, CallRows } from "./call-rows.ts"
import { checkCall } from "./call-rules.ts"

export interface CallsInput {
  bytes: Buffer
  envelope: CallEnvelope
  /** The `entity/project` of a v2 path, which every call must name; null: none. */
  pathProject: string | null
  /** User id of the caller. */
  userId: string
}

export interface CallsResult extends CallBatch {
  /** A JSON list: of each item its ids, `{}` of an end. */
  ids: Buffer
}

/**
 * The scanner reads hostile bytes at 20 MB/s and ordinary ones at 500, which is quicker than to hand them over: only a
 * body that may take more than a tenth of a second is read on another thread.
 */
const ownThreadBytes = 1024 * 1024

/** All calls of the body or none. @throws {HeddleError} 400, 403, 413, 422. */
export const callsTask = threadTask<CallsInput, CallsResult, PayloadLookup, unknown>({
  name: "calls",
  ownThreadBytes,
  *run({ bytes, envelope, pathProject, userId }) {
    // Before the body is read: its values, while they waited for a look-up, would outlive V8's new space.
    const id = pathProject === null ? null : yield* findProjectId(pathProject)
    const body = readCalls(bytes, envelope)
    const names = projectsOf(body, pathProject)
    const projects = id === null ? yield* ensureProjectIds(names) : new Map([...names].map((name) => [name, id]))
    const rows = new CallRows(body)
    const ids = body.items.map((item) => {
      const made = idsOf(item)
      rows.add(item, { projectId: projects.get(projectOf(item)) as string, userId }, made)
      return made ?? {}
    })
    return { ...rows.batch(), ids: Buffer.from(JSON.stringify(ids)) }
  },
})

/** Those that the calls name; every call is checked. */
function projectsOf({ items }: CallBody, pathProject: string | null): Set<string> {
  const names = new Set<string>()
  for (const item of items) {
    checkCall(item)
    const name = projectOf(item)
    if (pathProject !== null && name !== pathProject) throw otherProject(name, pathProject)
    names.add(name)
  }
  return names
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

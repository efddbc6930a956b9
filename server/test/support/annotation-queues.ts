/** Makes annotation queues and works on their items over HTTP. Most functions throw when the answer is not 200. */
import { leaseAnswer, nextItem, undoAnswer } from "../../src/wire/labelling/annotation-lease.ts"
import {
  itemAnswer,
  itemsAdded,
  itemsPage,
  queueAnswer,
  queueCreated,
} from "../../src/wire/labelling/annotation-queue.ts"
import { strictly } from "./answers.ts"
import { type CallFields, uuid, writeCalls } from "./completed-call.ts"
import type { EvaluationAnswer, EvaluationCaller } from "./evaluation-app.ts"

/** Stores calls numbered from 1, the first the oldest; returns their ids. */
export async function storedCalls(
  caller: EvaluationCaller,
  project: string,
  count: number,
  fields: (n: number) => Partial<CallFields> = () => ({}),
): Promise<string[]> {
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  const calls = numbers.map((n) => {
    const startedAt = new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString()
    return { id: n, startedAt, ...fields(n) }
  })
  await writeCalls(caller, project, calls)
  return numbers.map(uuid)
}

/** Publishes an annotation spec; returns its ref. */
export async function newSpec(
  caller: EvaluationCaller,
  project: string,
  name: string,
  field_schema: object,
): Promise<string> {
  const val = { name, field_schema }
  const obj = { project_id: project, object_id: name, val, builtin_object_class: "AnnotationSpec" }
  const { status, body, text } = await caller.post("/obj/create", { obj })
  if (status !== 200) throw new Error(text)
  return `weave:///${project}/object/${name}:${(body as { digest: string }).digest}`
}

export async function newQueue(
  caller: EvaluationCaller,
  project: string,
  fields: Record<string, unknown> = {},
): Promise<string> {
  const body = { project_id: project, name: "reviews", scorer_refs: [], ...fields }
  return strictly(queueCreated, await caller.post("/annotation_queues", body)).id
}

/** Makes a queue with `count` calls in it. */
export async function filledQueue(
  caller: EvaluationCaller,
  count: number,
  fields: Record<string, unknown> = {},
): Promise<QueueUser> {
  const project = caller.newProject()
  const calls = await storedCalls(caller, project, count)
  const user = new QueueUser(caller, project, await newQueue(caller, project, fields))
  await user.add(calls)
  return user
}

/** One caller who works in one queue. */
export class QueueUser {
  readonly caller: EvaluationCaller
  readonly project: string
  readonly queue: string

  constructor(caller: EvaluationCaller, project: string, queue: string) {
    this.caller = caller
    this.project = project
    this.queue = queue
  }

  /** Another annotator in the same queue. */
  as(caller: EvaluationCaller): QueueUser {
    return new QueueUser(caller, this.project, this.queue)
  }

  get url(): string {
    return `/annotation_queues/${this.queue}`
  }

  get inProject(): string {
    return `?project_id=${encodeURIComponent(this.project)}`
  }

  post(path: string, fields: Record<string, unknown> = {}): Promise<EvaluationAnswer> {
    return this.caller.post(`${this.url}${path}`, { project_id: this.project, ...fields })
  }

  async read() {
    return strictly(queueAnswer, await this.caller.get(`${this.url}${this.inProject}`)).queue
  }

  async add(call_ids: readonly string[], display_fields: readonly string[] = ["inputs"]) {
    return strictly(itemsAdded, await this.post("/items", { call_ids, display_fields }))
  }

  async items(fields: Record<string, unknown> = {}) {
    return strictly(itemsPage, await this.post("/items/query", fields)).items
  }

  /** The ids of the items, in order. */
  async itemIds(): Promise<string[]> {
    return (await this.items()).map(({ id }) => id)
  }

  async next(fields: Record<string, unknown> = {}) {
    return strictly(nextItem, await this.post("/items/next", fields))
  }

  /** The call of the item that is handed out; null when there is none. */
  async nextCall(): Promise<string | null> {
    return (await this.next()).item?.call_id ?? null
  }

  progress(item: string, annotation_state: string): Promise<EvaluationAnswer> {
    return this.post(`/items/${item}/progress`, { annotation_state })
  }

  async moved(item: string, state: string) {
    return strictly(itemAnswer, await this.progress(item, state)).item
  }

  async undone(item: string) {
    return strictly(undoAnswer, await this.post(`/items/${item}/progress/undo`))
  }

  lease(item: string, fields: Record<string, unknown> = {}): Promise<EvaluationAnswer> {
    return this.caller.put(`${this.url}/items/${item}/lease`, { project_id: this.project, ...fields })
  }

  async held(item: string, fields: Record<string, unknown> = {}) {
    return strictly(leaseAnswer, await this.lease(item, fields))
  }

  release(item: string): Promise<EvaluationAnswer> {
    return this.caller.delete(`${this.url}/items/${item}/lease${this.inProject}`)
  }
}

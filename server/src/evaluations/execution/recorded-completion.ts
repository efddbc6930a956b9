/**
 * A completion that is recorded as a call before the model is asked. The catalog remembers
 * it until its end is stored; a server that is killed in between ends it at its next start.
 */
import { isRefusal } from "../../errors.ts"
import type { Principal } from "../../http/principal.ts"
import { deleteOpenCalls, findOpenCalls, insertOpenCall } from "../../storage/catalog/evaluations/open-calls.ts"
import { toTheEnd } from "../../work/work-scope.ts"
import { readRunningCalls } from "../../storage/traces/calls/running-calls.ts"
import {
  type CallEnd,
  type CallStart,
  endCalls,
  recordCalls,
  type RecordDependencies,
} from "../../calls/write/recorded-call.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import type { CompletionDependencies } from "./dependencies.ts"
import type { ProjectAccess } from "../../access/project-access.ts"

export class RecordedCompletion {
  readonly #dependencies: RecordDependencies & Pick<CompletionDependencies, "lateEnds">
  readonly #principal: Principal
  readonly #project: ProjectAccess
  readonly #id: string
  /** null: it is stored. */
  #start: CallStart | null

  constructor(
    dependencies: RecordDependencies & Pick<CompletionDependencies, "lateEnds">,
    principal: Principal,
    project: ProjectAccess,
    start: CallStart,
  ) {
    this.#dependencies = dependencies
    this.#principal = { ...principal, boundProject: { id: project.id, name: project.name } }
    this.#project = project
    this.#id = start.id
    this.#start = start
  }

  /** Refuses a call that cannot be recorded before the model is asked, and paid. @throws {HeddleError} */
  async begin(): Promise<void> {
    const start = this.#start
    if (start === null) return
    await insertOpenCall(this.#dependencies.database, { projectId: this.#project.id, callId: this.#id })
    try {
      await this.#record({ start })
      this.#start = null
    } catch (error) {
      // After any other failure it may be stored all the same.
      if (isRefusal(error)) await this.#forget()
      throw error
    }
  }

  /** Also when the client has left, or when the store takes nothing for now: what the model answered has been paid. */
  end(end: Omit<CallEnd, "id" | "endedAt">): Promise<void> {
    const ended = { ...end, id: this.#id, endedAt: new Date() }
    const store = async () => {
      await this.#record({ end: ended })
      await this.#forget()
    }
    const bytes = Buffer.byteLength(end.output) + Buffer.byteLength(end.summary)
    return toTheEnd(() => this.#dependencies.lateEnds.store(bytes, store))
  }

  #record(record: { start: CallStart } | { end: CallEnd }): Promise<void> {
    return recordCalls(this.#dependencies, this.#principal, this.#project.name, [record])
  }

  /** A row that stays is harmless, and no reason to lose an answer: the next start finds that there is nothing to end. */
  async #forget(): Promise<void> {
    await deleteOpenCalls(this.#dependencies.database, this.#project.id, [this.#id]).catch(() => undefined)
  }
}

const callsAtOnce = 500
const cutOff = "the server was stopped before this call ended; what the model answered is not known"

/** Ends what the last process was recording, once, whichever of its writes were stored. Call it before the first request. */
export async function endCutOffCalls({
  database,
  traces,
  writer,
}: Pick<CallDependencies, "database" | "traces" | "writer">): Promise<void> {
  for (;;) {
    const open = await findOpenCalls(database, callsAtOnce)
    const [first] = open
    if (first === undefined) return
    const ids = open.map(({ callId }) => callId)
    const running = await readRunningCalls(traces, first.projectId, ids)
    const end = { endedAt: new Date(), output: "null", summary: "{}", exception: cutOff }
    await endCalls(writer, first.projectId, running, end)
    await deleteOpenCalls(database, first.projectId, ids)
  }
}

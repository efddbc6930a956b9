/** Makes training jobs from calls, labels and scores, and reads their data and results. */
import { readFile } from "node:fs/promises"
import path from "node:path"
import { expect, vi } from "vitest"
import type { Config } from "../../src/config.ts"
import { FakeEngine } from "../../src/engines/fake-engine.ts"
import { storedJobConfig } from "../../src/wire/training/job.ts"
import { trainedFromJob, trainingDryRun, trainingRowsAnswer, trainingUses } from "../../src/wire/training/train-from.ts"
import { uuid } from "./completed-call.ts"
import { type EvaluationApp, type EvaluationCaller, openEvaluationApp } from "./evaluation-app.ts"
import { callRef, createdFeedback } from "./feedback-items.ts"

export const fromSource = "/v1/preview/training-jobs/from-source"

export interface World {
  project: string
  model: string
  name: string
}

export interface Chat {
  question?: unknown
  answer?: unknown
  exception?: string
  isOpen?: boolean
  inputs?: object
  output?: unknown
  parent?: number
  opName?: string
  attributes?: object
}

interface Choice {
  message: object
  [field: string]: unknown
}

/** The fields of a line of a job's data that tests read. */
export interface DataLine {
  messages: { role: string; content: string }[]
  tools?: object[]
  group: number
  index: number
  reward: number
  histories: { items: { choice?: Choice; message?: object }[] }[]
}

export interface SampledAnswer {
  id: string
  model: string
  choices: Choice[]
}

/** The answer without its sampled tokens, as some clients store it. */
export function withoutTokens({ id, model, choices }: SampledAnswer) {
  return { id, model, choices: choices.map(({ index, finish_reason, message }) => ({ index, finish_reason, message })) }
}

let models = 0

export class TrainFromApp {
  readonly opened: EvaluationApp

  private constructor(opened: EvaluationApp) {
    this.opened = opened
  }

  /** Opens the server with the fake engine; with `changes`, with the engine that these settings name. */
  static async open(changes?: Partial<Config>): Promise<TrainFromApp> {
    return new TrainFromApp(
      await openEvaluationApp(changes ?? {}, changes === undefined ? new FakeEngine() : undefined),
    )
  }

  get acme(): EvaluationCaller {
    return this.opened.acme
  }

  close(): Promise<void> {
    return this.opened.close()
  }

  /** Makes a project with a model in it. */
  async world(caller = this.acme): Promise<World> {
    const project = caller.newProject()
    const name = `from-${models++}`
    const names = { entity: caller.entity, project: project.split("/")[1], name, base_model: "heddle/tiny" }
    const { status, body, text } = await caller.post("/v1/preview/models", names)
    expect([status, text]).toEqual([200, text])
    return { project, model: (body as { id: string }).id, name }
  }

  /** Stores calls of chat completions, numbered from `first`, each later than the one before. */
  async store(project_id: string, chats: readonly Chat[], first = 1): Promise<void> {
    for (const [index, chat] of chats.entries()) await this.#storeOne(project_id, first + index, chat)
  }

  async #storeOne(project_id: string, number: number, chat: Chat): Promise<void> {
    const { question, answer, exception, isOpen, inputs, output, parent, opName, attributes } = chat
    const id = uuid(number)
    const message = { role: "assistant", content: answer }
    const start = {
      project_id,
      id,
      trace_id: uuid(parent ?? number),
      parent_id: parent === undefined ? null : uuid(parent),
      op_name: opName ?? "openai.chat.completions.create",
      started_at: new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString(),
      attributes: attributes ?? {},
      inputs: inputs ?? { model: "gpt", messages: [{ role: "user", content: question }] },
    }
    const started = await this.acme.post("/call/start", { start })
    expect([started.status, started.text]).toEqual([200, started.text])
    if (isOpen === true) return
    const end = {
      project_id,
      id,
      ended_at: "2026-01-02T00:00:00Z",
      output: output ?? { id: `c-${number}`, choices: [{ index: 0, finish_reason: "stop", message }] },
      exception: exception ?? null,
      summary: {},
    }
    expect((await this.acme.post("/call/end", { end })).status).toBe(200)
  }

  score(project: string, call: number, value: unknown, feedback_type = "quality") {
    const weave_ref = callRef(project, uuid(call))
    return createdFeedback(this.acme, project, { weave_ref, feedback_type, payload: { value } })
  }

  async dry(body: object) {
    const answer = await this.acme.post(`${fromSource}/dry-run`, body)
    expect([answer.status, answer.text]).toEqual([200, answer.text])
    return trainingDryRun.strict().parse(answer.body)
  }

  async made(body: object) {
    const answer = await this.acme.post(fromSource, body)
    expect([answer.status, answer.text]).toEqual([200, answer.text])
    const job = trainedFromJob.strict().parse(answer.body)
    const { catalog } = this.opened.app.stores
    const stored = await catalog
      .selectFrom("training_jobs")
      .selectAll()
      .where("id", "=", job.id)
      .executeTakeFirstOrThrow()
    const text = await readFile(path.join(this.opened.config.dataDir, stored.data_path), "utf8")
    const lines = text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as DataLine]))
    return { job, text, lines, config: storedJobConfig.parse(stored.config) }
  }

  async rowsOf(jobId: string, query = "") {
    const { body } = await this.acme.get(`/v1/preview/training-jobs/${jobId}/rows${query}`)
    return trainingRowsAnswer.strict().parse(body)
  }

  async usesOf(project_id: string, things: object) {
    const { body } = await this.acme.post("/v1/preview/training-rows/query", { project_id, ...things })
    return trainingUses.strict().parse(body)
  }

  async jobsOf(model: string): Promise<number> {
    const { body } = await this.acme.get(`/v1/preview/training-jobs?model_id=${model}`)
    return (body as { data: object[] }).data.length
  }

  async ended(jobId: string) {
    type Job = { status: string; output_step: number; ended_at: string | null }
    const read = async () => (await this.acme.get(`/v1/preview/training-jobs/${jobId}`)).body as Job
    await vi.waitUntil(async () => (await read()).ended_at !== null, { timeout: 60_000, interval: 25 })
    return read()
  }
}

/** Number of rows that were left out, by cause. */
export const causes = ({ drops }: { drops: { cause: string; count: number }[] }) =>
  Object.fromEntries(drops.map(({ cause, count }) => [cause, count]))

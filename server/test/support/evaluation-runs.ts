/** Makes evaluation runs, predictions and scores over HTTP. */
import type { EvaluationAnswer, EvaluationCaller } from "./evaluation-app.ts"

export interface RunProject {
  /** `entity/project`. */
  name: string
  /** Sends a request to a path below `/v2/entity/project/`. */
  post: (path: string, body?: unknown) => Promise<EvaluationAnswer>
  get: (path: string) => Promise<EvaluationAnswer>
  delete: (path: string, body?: unknown) => Promise<EvaluationAnswer>
  lines: (path: string) => Promise<Record<string, unknown>[]>
  /** These make a run, a prediction or a score, and return its id. */
  run: (fields?: object) => Promise<string>
  prediction: (fields: object) => Promise<string>
  score: (fields: object) => Promise<string>
  ref: (name: string) => string
}

export function runProject(caller: EvaluationCaller, name = caller.newProject()): RunProject {
  const at = (path: string) => `/v2/${name}/${path}`
  const post = (path: string, body?: unknown) => caller.post(at(path), body)
  const ref = (object: string) => `weave:///${name}/object/${object}:v0`
  const made = async (path: string, id: string, body: object) => {
    const answer = await post(path, body)
    if (answer.status !== 200) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`)
    return (answer.body as Record<string, string>)[id] as string
  }
  return {
    name,
    ref,
    post,
    get: (path) => caller.get(at(path)),
    delete: (path, body) => caller.delete(at(path), body),
    lines: async (path) => {
      const { status, text } = await caller.get(at(path))
      if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`)
      return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Record<string, unknown>]))
    },
    run: (fields = {}) =>
      made("evaluation_runs", "evaluation_run_id", { evaluation: ref("eval"), model: ref("model"), ...fields }),
    prediction: (fields) =>
      made("predictions", "prediction_id", { model: ref("model"), inputs: { q: 1 }, output: null, ...fields }),
    score: (fields) => made("scores", "score_id", { scorer: ref("scorer"), value: 1, ...fields }),
  }
}

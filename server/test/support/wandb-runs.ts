/** Makes and reads runs as the wandb client does. */
import type { EvaluationApp, EvaluationCaller } from "./evaluation-app.ts"

export interface RunNames {
  entity: string
  project: string
  run: string
}

export interface GraphqlBody {
  data?: Record<string, unknown> | null
  errors?: { message: string; extensions?: { code?: string } }[]
}

/** The member `name` of the answer's data. */
export function dataOf({ data }: GraphqlBody, name: string): unknown {
  return (data ?? {})[name]
}

export async function ask(
  caller: EvaluationCaller,
  query: string,
  variables: object = {},
  headers: Record<string, string> = {},
): Promise<GraphqlBody> {
  const { status, body, text } = await caller.post("/graphql", { query, variables, operationName: "" }, headers)
  if (status !== 200) throw new Error(`${status} ${text}`)
  return body as GraphqlBody
}

const upsert = `mutation UpsertBucket($input: UpsertBucketInput) {
  upsertBucket(input: $input) { inserted bucket { id name displayName historyLineCount project { name entity { name } } } }
}`

/** Sends `upsertBucket`; returns its result. @throws {Error} when it is refused. */
export async function upsertRun(
  caller: EvaluationCaller,
  input: object,
  headers: Record<string, string> = {},
): Promise<{ inserted: boolean; bucket: Record<string, unknown> & { id: string; name: string } }> {
  const { data, errors } = await ask(caller, upsert, { input }, headers)
  const upserted = data?.["upsertBucket"]
  if (errors !== undefined || !upserted) throw new Error(errors?.[0]?.message)
  return upserted as Awaited<ReturnType<typeof upsertRun>>
}

/** Makes the run with the first request of a client's process; returns the run's id. */
export async function startRun(
  caller: EvaluationCaller,
  { entity, project, run, config = "a run" }: RunNames & { config?: string },
): Promise<string> {
  const { bucket } = await upsertRun(caller, {
    entityName: entity,
    modelName: project,
    name: run,
    host: "a-machine",
    jobProgram: "train.py",
    config: JSON.stringify({ text: { value: config }, _wandb: { value: { t: {} } } }),
  })
  return bucket.id
}

export function streamPath({ entity, project, run }: RunNames): string {
  return `/files/${entity}/${project}/${run}/file_stream`
}

/** Reads fields of the run. */
export async function readRun(
  caller: EvaluationCaller,
  { entity, project, run }: RunNames,
  fields: string,
): Promise<Record<string, unknown>> {
  const query = `query($entity: String, $project: String, $run: String!) {
    project(name: $project, entityName: $entity) { run(name: $run) { ${fields} } }
  }`
  const body = await ask(caller, query, { entity, project, run })
  if (body.errors !== undefined) throw new Error(body.errors[0]?.message)
  return (dataOf(body, "project") as { run: Record<string, unknown> }).run
}

/** Asks for an address at which a file of the run can be stored; returns its path. */
export async function uploadAddress(caller: EvaluationCaller, names: RunNames, file: string): Promise<string> {
  const query = `mutation($entity: String, $project: String, $run: String!, $files: [String!]!) {
    createRunFiles(input: { entityName: $entity, projectName: $project, runName: $run, files: $files }) {
      files { name uploadUrl }
    }
  }`
  const body = await ask(caller, query, { ...names, files: [file] })
  if (body.errors !== undefined) throw new Error(body.errors[0]?.message)
  const [made] = (dataOf(body, "createRunFiles") as { files: { uploadUrl: string }[] }).files
  return new URL(made?.uploadUrl ?? "").pathname
}

export async function uploadRunFile(
  opened: EvaluationApp,
  caller: EvaluationCaller,
  names: RunNames,
  file: { name: string; text: string },
): Promise<void> {
  const url = await uploadAddress(caller, names, file.name)
  const answer = await opened.app.server.inject({ method: "PUT", url, payload: file.text })
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.payload}`)
}

export async function runFileIds(caller: EvaluationCaller, names: RunNames): Promise<string[]> {
  const { files } = await readRun(caller, names, "files { edges { node { id } } }")
  return (files as { edges: { node: { id: string } }[] }).edges.map(({ node }) => node.id)
}

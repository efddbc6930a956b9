/**
 * Checkpoints are versions of `lora` artifacts; artifacts become checkpoints and training data (platform-wandb 9.5,
 * training-api 5.4).
 */
import { execFile } from "node:child_process"
import { createHash, randomUUID } from "node:crypto"
import { watch } from "node:fs"
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import path from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"
import { FakeEngine, writeFakeCheckpoint } from "../../src/engines/fake-engine.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { groupsOf } from "../support/training-app.ts"
import {
  change,
  commit,
  fetchFrom,
  filesOf,
  logArtifact,
  readArtifact,
  sendArtifact,
} from "../support/wandb-artifacts.ts"

const run = promisify(execFile)
const project = "loras"

let opened: EvaluationApp
let engine: FakeEngine
beforeAll(async () => {
  engine = new FakeEngine()
  opened = await openEvaluationApp({}, engine)
})
afterAll(() => opened.close())

const newName = () => `m-${randomUUID().slice(0, 8)}`
const namesOf = (collection: string) => ({ entity: "acme", project, collection })

async function register(name: string, return_existing = false): Promise<string> {
  const model = { name, project, base_model: "heddle/tiny", return_existing }
  const { status, body, text } = await opened.acme.post("/v1/preview/models", model)
  if (status !== 200) throw new Error(text)
  return (body as { id: string }).id
}

async function jobEnded(answer: { body: unknown; text: string }): Promise<void> {
  const { id } = answer.body as { id: string }
  await expect
    .poll(async () => ((await opened.acme.get(`/v1/preview/training-jobs/${id}`)).body as { status: string }).status, {
      timeout: 20_000,
    })
    .toMatch(/^(?:succeeded|completed|failed)$/i)
}

const train = async (model_id: string) =>
  jobEnded(await opened.acme.post("/v1/preview/training-jobs", { model_id, trajectory_groups: groupsOf([0, 1]) }))

const stepsOf = async (id: string) =>
  (
    (await opened.acme.get(`/v1/preview/models/${id}/checkpoints?order=asc`)).body as { data: { step: number }[] }
  ).data.map(({ step }) => step)

const version = (name: string, alias: string, fields = "id versionIndex aliases { alias }") =>
  readArtifact(opened.acme, { entity: "acme", project }, `${name}:${alias}`, fields)

const aliases = (...names: string[]) => names.map((alias) => ({ alias }))

/** A safetensors file of one tensor of four bytes. */
const safetensors = (content: string) =>
  headed(
    JSON.stringify({ "base_model.model.x.lora_A.weight": { dtype: "F32", shape: [1], data_offsets: [0, 4] } }),
    content,
  )

function headed(header: string, content: string): Buffer {
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  return Buffer.concat([length, Buffer.from(header), Buffer.from(content)])
}

const manyTensors = Array.from({ length: 200_000 }, (_, n) => `"t${n}":{"data_offsets":[0,9]}`).join()

const adapter = (content: string) => ({
  "adapter_config.json": JSON.stringify({ peft_type: "LORA", r: 8, lora_alpha: 16 }),
  "adapter_model.safetensors": safetensors(content),
})

const logLora = (collection: string, files: Record<string, string | Buffer>, ...names: string[]) =>
  logArtifact(opened, opened.acme, { ...namesOf(collection), type: "lora", files, aliases: [...names, "latest"] })

test("platform-wandb 9.5: every checkpoint is a version with its step, the newest is the latest", async () => {
  const name = newName()
  const id = await register(name)
  expect(await version(name, "latest")).toMatchObject({ versionIndex: 0, aliases: aliases("latest", "step0") })
  await train(id)
  await train(id)
  expect(await version(name, "latest")).toMatchObject({ versionIndex: 2, aliases: aliases("latest", "step2") })
  expect(await version(name, "step1", "versionIndex metadata artifactType { name } digest")).toEqual({
    versionIndex: 1,
    metadata: '{"wandb.base_model":"heddle/tiny","step":1}',
    artifactType: { name: "lora" },
    digest: expect.stringMatching(/^[0-9a-f]{32}$/),
  })
  const files = await filesOf(opened.acme, { entity: "acme", project }, `${name}:step2`)
  expect(files.map((file) => file.name)).toEqual(["adapter_config.json", "adapter_model.safetensors"])
  expect((await fetchFrom(opened, files[1]?.directUrl ?? "")).payload).toBe(`weights of ${id}@2`)
  // Another team does not see the artifact.
  expect(await readArtifact(opened.rival, { entity: "acme", project }, `${name}:step2`, "id")).toBeNull()
})

test("platform-wandb 9.5: a deleted checkpoint takes its version along, and its files' room; the latest moves", async () => {
  const name = newName()
  const id = await register(name)
  await train(id)
  await train(id)
  const two = (await version(name, "step2", "id"))?.["id"]
  const [file] = await filesOf(opened.acme, { entity: "acme", project }, `${name}:step2`)
  await expect(
    change(
      opened.acme,
      "mutation($id: ID!) { deleteArtifact(input: { artifactID: $id, deleteAliases: true }) { artifact { id } } }",
      { id: two },
    ),
  ).rejects.toThrow(`v2 of "${name}" is a checkpoint of the model of that name; delete the checkpoint`)
  await opened.acme.delete(`/v1/preview/models/${id}/checkpoints`, { steps: [2] })
  expect((await fetchFrom(opened, file?.directUrl ?? "")).statusCode).toBe(404)
  expect([await version(name, "step2"), await version(name, "v2")]).toEqual([null, null])
  expect(await version(name, "latest")).toMatchObject({ versionIndex: 1, aliases: aliases("latest", "step1") })
  await train(id)
  expect(await version(name, "latest")).toMatchObject({ versionIndex: 3, aliases: aliases("latest", "step3") })
})

test("platform-wandb 9.5: a committed lora artifact of a model's name is its checkpoint, and the next job starts there", async () => {
  const name = newName()
  const id = await register(name)
  await logLora(name, adapter("abcd"), "step7")
  expect(await stepsOf(id)).toEqual([0, 7])
  expect(await version(name, "latest")).toMatchObject({ versionIndex: 1, aliases: aliases("latest", "step7") })
  const chat = await opened.acme.post("/v1/chat/completions", {
    model: `wandb-artifact:///acme/${project}/${name}:step7`,
    messages: [{ role: "user", content: "x" }],
  })
  expect(chat.status).toBe(200)
  await train(id)
  expect(await stepsOf(id)).toEqual([0, 7, 8])
  const started = engine.calls.findLast(({ method }) => method === "train")
  expect(started?.params).toMatchObject({ start: { key: expect.stringMatching(`^${id}@7#[0-9a-f]{64}$`) } })
  // Logging the same files again makes no new step.
  expect(await logLora(name, adapter("abcd"), "step7")).toMatchObject({ state: "COMMITTED" })
  expect(await stepsOf(id)).toEqual([0, 7, 8])
})

test("platform-wandb 9.5: a commit that comes again while the first is at work makes one checkpoint", async () => {
  const name = newName()
  const id = await register(name)
  const lora = { ...namesOf(name), type: "lora", files: adapter("twin"), aliases: ["latest"] }
  const sent = await sendArtifact(opened, opened.acme, lora)
  const commits = await Promise.all([commit(opened.acme, sent.id), commit(opened.acme, sent.id)])
  expect(commits.map(({ versionIndex }) => versionIndex)).toEqual([1, 1])
  expect(await stepsOf(id)).toEqual([0, 1])
  expect(await version(name, "latest")).toMatchObject({ versionIndex: 1, aliases: aliases("latest") })
})

test("platform-wandb 9.5: versions that were logged before the model was registered are its checkpoints", async () => {
  const name = newName()
  await logLora(name, adapter("1234"), "step3")
  await logLora(name, { "readme.md": "no adapter" })
  expect(await stepsOf(await register(name))).toEqual([0, 3])
})

test("platform-wandb 9.5: the folder that a kill leaves of a version on its way to a checkpoint goes with the next start", async () => {
  const name = newName()
  const id = await register(name)
  await train(id)
  const folder = path.join(opened.config.dataDir, "checkpoints", id)
  const made = new Set<string>()
  const watcher = watch(folder, (_, file) => file?.endsWith(".tmp") && made.add(file))
  await logLora(name, adapter("kill"), "step5")
  await expect.poll(() => made.size).toBe(1)
  watcher.close()
  for (const half of made) await mkdir(path.join(folder, half))
  await opened.restart()
  expect((await readdir(folder)).toSorted()).toEqual(["step_000001", "step_000005"])
})

const blobOf = (content: string) => {
  const sha256 = createHash("sha256").update(content).digest("hex")
  return path.join(opened.config.dataDir, "blobs", "sha256", sha256.slice(0, 2), sha256)
}

async function idOf(name: string): Promise<string> {
  const { body } = await opened.acme.get(`/v1/preview/models?project=${project}&name=${name}`)
  const model = (body as { data: { id: string; name: string }[] }).data.find((each) => each.name === name)
  if (model === undefined) throw new Error(`no model ${name}`)
  return model.id
}

test("law 2, platform-wandb 9.5: what an interrupted registration left becomes checkpoints when it, or a commit, comes again", async () => {
  const logged = async (name: string) => {
    const config = JSON.stringify({ peft_type: "LORA", r: 8, of: name })
    const files = { ...adapter("5678"), "adapter_config.json": config }
    const { id } = await logLora(name, files, "step3")
    await logLora(name, adapter("next"))
    // A file that cannot be read interrupts it once the model is there.
    const blob = blobOf(config)
    await rename(blob, `${blob}.aside`)
    await expect(register(name)).rejects.toThrow("Internal server error")
    // Whoever asks for the model has it all the same.
    expect(await register(name, true)).toBe(await idOf(name))
    await rename(`${blob}.aside`, blob)
    expect(await stepsOf(await idOf(name))).toEqual([0])
    return id
  }
  const name = newName()
  await logged(name)
  const ids = await Promise.all([register(name, true), register(name, true)])
  expect(await stepsOf(ids[0])).toEqual([0, 3, 4])
  const another = newName()
  await commit(opened.acme, await logged(another))
  expect(await stepsOf(await idOf(another))).toEqual([0, 3])
  const trained = newName()
  const late = await logged(trained)
  await train(await idOf(trained))
  await commit(opened.acme, late)
  await register(trained, true)
  // Steps that jobs make go on from one another; none gets between them.
  expect(await stepsOf(await idOf(trained))).toEqual([0, 1])
})

test("law 2, platform-wandb 9.5: a commit whose checkpoint cannot be stored changes nothing, and may be sent again", async () => {
  const name = newName()
  const id = await register(name)
  await logLora(name, adapter("good"), "best")
  const lora = { ...namesOf(name), type: "lora", files: adapter("more"), aliases: ["best", "latest"] }
  const sent = await sendArtifact(opened, opened.acme, lora)
  const folder = path.join(opened.config.dataDir, "checkpoints", id)
  await rename(folder, `${folder}.aside`)
  await writeFile(folder, "no folder")
  await expect(commit(opened.acme, sent.id)).rejects.toThrow("Internal server error")
  expect(await version(name, "latest")).toMatchObject({ versionIndex: 1, aliases: aliases("best", "latest") })
  await rm(folder)
  await rename(`${folder}.aside`, folder)
  expect(await commit(opened.acme, sent.id)).toMatchObject({ versionIndex: 2 })
  expect(await version(name, "best")).toMatchObject({ versionIndex: 2 })
  expect(await stepsOf(id)).toEqual([0, 1, 2])
})

test("platform-wandb 9.5: a job that ends while a version is on its way to the same step keeps its checkpoint", async () => {
  const name = newName()
  const config = JSON.stringify({ peft_type: "LORA", r: 8, of: name })
  await logLora(name, { ...adapter("late"), "adapter_config.json": config })
  // Whoever reads the pipe waits for what is written here, which begins when the reader is there.
  const blob = blobOf(config)
  await rm(blob)
  await run("mkfifo", [blob])
  const registered = register(name)
  const pipe = await open(blob, "w")
  const id = await idOf(name)
  await train(id)
  await pipe.writeFile(config)
  await pipe.close()
  expect(await registered).toBe(id)
  const trained = `weights of ${id}@1`
  const folder = path.join(opened.config.dataDir, "checkpoints", id, "step_000001")
  expect(await readFile(path.join(folder, "adapter_model.safetensors"), "utf8")).toBe(trained)
  expect(await stepsOf(id)).toEqual([0, 1])
  const files = await filesOf(opened.acme, { entity: "acme", project }, `${name}:step1`)
  expect((await fetchFrom(opened, files[1]?.directUrl ?? "")).payload).toBe(trained)
})

test("training-api 4.2: a version is no checkpoint while the engine still works on the job that was to make its step", async () => {
  const name = newName()
  const id = await register(name)
  const { train: usual } = engine.handlers
  const [begun, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  engine.handlers.train = async (params) => {
    begun.resolve()
    await written.promise
    return writeFakeCheckpoint(params, 1)
  }
  const jobs = "/v1/preview/training-jobs"
  const { body } = await opened.acme.post(jobs, { model_id: id, trajectory_groups: groupsOf([0, 1]) })
  await begun.promise
  if (usual !== undefined) engine.handlers.train = usual
  const job = (body as { id: string }).id
  await opened.acme.post(`${jobs}/${job}/cancel`)
  const refusal = `job ${job} of the model "${name}" was cancelled and has not stopped yet; try again in a moment`
  await expect(logLora(name, adapter("abcd"))).rejects.toThrow(refusal)
  written.resolve()
  const log = () =>
    logLora(name, adapter("abcd")).then(
      () => "logged",
      (error: Error) => error.message,
    )
  await expect.poll(log, { timeout: 20_000 }).toBe("logged")
  expect(await stepsOf(id)).toEqual([0, 1])
  // It starts from the files of the version.
  await train(id)
  expect(await stepsOf(id)).toEqual([0, 1, 2])
})

test.each([
  [
    "without weights",
    { "adapter_config.json": '{"peft_type": "LORA", "r": 8}' },
    'it has no file "adapter_model.safetensors"',
  ],
  [
    "cut off",
    { ...adapter("abcd"), "adapter_model.safetensors": safetensors("ab") },
    "is not a whole safetensors file",
  ],
  ["of another kind", { ...adapter("abcd"), "adapter_config.json": '{"peft_type": "IA3"}' }, 'its peft_type is "IA3"'],
  ...["null", '{"t":null}', '{"t":{"data_offsets":"all"}}', `{${manyTensors}}`].map(
    (header): [string, object, string] => [
      `whose tensors are ${header.slice(0, 40)}`,
      { ...adapter("abcd"), "adapter_model.safetensors": headed(header, "abcd") },
      "is not a whole safetensors file",
    ],
  ),
  [
    "with megabytes of settings",
    { ...adapter("abcd"), "adapter_config.json": `{"peft_type": "LORA", "r": 8, "x": "${"x".repeat(2_000_000)}"}` },
    "its adapter_config.json has 2000038 bytes",
  ],
])("platform-wandb 9.5: an artifact %s is refused under a model's name and leaves nothing", async (_, files, told) => {
  const name = newName()
  const id = await register(name)
  await expect(logLora(name, files as Record<string, string>, "step4")).rejects.toThrow(told)
  expect(await stepsOf(id)).toEqual([0])
  expect(await version(name, "step4")).toBeNull()
})

test("platform-wandb 9.5: a step that the model has is not replaced", async () => {
  const name = newName()
  const id = await register(name)
  await train(id)
  await expect(logLora(name, adapter("abcd"), "step1")).rejects.toThrow(
    "give the version the alias step2 or a higher one",
  )
  expect(await version(name, "step1")).toMatchObject({ versionIndex: 1 })
  await logLora(name, adapter("efgh"))
  expect(await stepsOf(id)).toEqual([0, 1, 2])
})

const rows = '{"messages": [{"role": "user", "content": "1+1"}, {"role": "assistant", "content": "2"}]}\n'

test("training-api 2.5: training_data_url names an artifact of the caller's team", async () => {
  const name = newName()
  const model_id = await register(name)
  const log = (collection: string, files: Record<string, string>) =>
    logArtifact(opened, opened.acme, { ...namesOf(collection), files, aliases: ["latest"] })
  await log("sft-data", { "train.jsonl": rows, "other.jsonl": "{}" })
  await log("single", { "rows.jsonl": rows, "readme.md": "x" })
  await log("several", { "a.jsonl": rows, "b.jsonl": rows })
  const start = (training_data_url: string, caller = opened.acme) =>
    caller.post("/v1/preview/sft-training-jobs", { model_id, training_data_url })
  for (const address of [
    `wandb-artifact:///acme/${project}/sft-data:v0`,
    `wandb-artifact:///acme/${project}/single:latest`,
  ]) {
    await jobEnded(await start(address))
  }
  expect(await stepsOf(model_id)).toEqual([0, 1, 2])
  const refused = await start(`wandb-artifact:///acme/${project}/several:v0`)
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("has 2 files that end in .jsonl")])
  const unknown = await start(`wandb-artifact:///acme/${project}/sft-data:v9`)
  expect([unknown.status, unknown.text]).toEqual([422, expect.stringContaining("there is no artifact")])
  const theirs = await opened.rival.post("/v1/preview/models", { name, project, base_model: "heddle/tiny" })
  const foreign = await opened.rival.post("/v1/preview/sft-training-jobs", {
    model_id: (theirs.body as { id: string }).id,
    training_data_url: `wandb-artifact:///acme/${project}/sft-data:v0`,
  })
  expect([foreign.status, foreign.text]).toEqual([422, expect.stringContaining("there is no artifact")])
})

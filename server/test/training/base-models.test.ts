/** An administrator may name any base model; a member may name shipped ones and those that the operator lists. */
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { createApp } from "../../src/app.ts"
import type { Config } from "../../src/config.ts"
import { EngineFailure } from "../../src/engines/engine.ts"
import { type Caller, testConfig } from "../support/test-app.ts"
import { openTrainingApp, type TrainingApp } from "../support/training-app.ts"

let root: string
/** A folder with a `config.json`, and a link to it. */
let folder: string
let link: string
let models = 0

beforeAll(async () => {
  root = await realpath(await mkdtemp(path.join(tmpdir(), "heddle-base-models-")))
  folder = path.join(root, "model")
  link = path.join(root, "link")
  await mkdir(folder)
  await writeFile(path.join(folder, "config.json"), "{}")
  await symlink(folder, link)
})
afterAll(() => rm(root, { recursive: true }))

async function withApp(changes: Partial<Config>, work: (opened: TrainingApp) => Promise<void>): Promise<void> {
  const opened = await openTrainingApp(changes)
  try {
    await work(opened)
  } finally {
    await opened.close()
  }
}

async function create(caller: Caller, baseModel: string) {
  const body = { project: "p", name: `based-${models++}`, base_model: baseModel }
  const answer = await caller.post("/v1/preview/models", body)
  const { base_model, detail } = answer.body as { base_model?: string; detail?: { loc: string[]; msg: string }[] }
  return { status: answer.status, base_model, detail }
}

const lookUps = ({ fake }: TrainingApp) => fake.calls.filter(({ method }) => method === "base.resolve")

test("training-api 1.2: a member gets one answer for every model that is not listed, and nothing is looked up", async () => {
  await withApp({}, async (opened) => {
    for (const name of [folder, link, "/etc", "/nowhere/at-all", "org/absent", "../model", "a b c", "heddle/../tiny"]) {
      expect(await create(opened.acme, name)).toMatchObject({
        status: 422,
        detail: [
          {
            loc: ["body", "base_model"],
            msg:
              `"${name}" is not among the base models that members may use (heddle/tiny). An administrator may use any: ` +
              "ask for a model made with their key, or for the name to be added to HEDDLE_BASE_MODELS",
          },
        ],
      })
    }
    expect(lookUps(opened)).toEqual([])
    expect(await create(opened.acme, "heddle/tiny")).toMatchObject({ status: 200, base_model: "heddle/tiny" })
  })
})

test("a member may use what the operator lists, a folder in any spelling, and nothing beside it", async () => {
  await withApp({ baseModels: ["org/listed", folder] }, async ({ acme }) => {
    expect(await create(acme, "org/listed")).toMatchObject({ status: 200, base_model: "org/listed" })
    expect(await create(acme, `${root}/./model/`)).toMatchObject({ status: 200, base_model: folder })
    for (const name of ["org/other", root, link, `${folder}/..`, "org/Listed"]) {
      expect((await create(acme, name)).detail?.[0]?.msg).toContain(
        `is not among the base models that members may use (heddle/tiny, org/listed, ${folder})`,
      )
    }
  })
})

test("* in the operator's list lets members use all that an administrator may", async () => {
  await withApp({ baseModels: ["*"] }, async ({ acme }) => {
    expect(await create(acme, folder)).toMatchObject({ status: 200, base_model: folder })
    expect(await create(acme, "org/any")).toMatchObject({ status: 200, base_model: "org/any" })
  })
})

test("an administrator may use any folder; its spellings and links to it are one base model", async () => {
  await withApp({}, async ({ admin }) => {
    for (const name of [folder, link, `${root}/././model`, `${folder}/`]) {
      expect(await create(admin, name)).toMatchObject({ status: 200, base_model: folder })
    }
    const { body } = await admin.get("/v1/models")
    const ids = (body as { data: { id: string }[] }).data.map(({ id }) => id)
    expect(ids.filter((id) => id.startsWith(root))).toEqual([folder])
  })
})

test("training-api 1.2: a base model that is not there: 422 that tells an administrator what was looked for", async () => {
  await withApp({}, async ({ admin, fake }) => {
    fake.handlers["base.resolve"] = () => {
      throw new EngineFailure("not_found", "no such model")
    }
    for (const [name, told] of [
      ["/nowhere/at-all", "/nowhere/at-all/config.json"],
      ["a b c", "neither a model-hub path"],
      ["../model", "neither a model-hub path"],
      ["org/..", "neither a model-hub path"],
      ["org/absent", "neither in the engine's local model cache nor on the model hub"],
    ] as const) {
      expect(await create(admin, name)).toMatchObject({
        status: 422,
        detail: [{ loc: ["body", "base_model"], msg: expect.stringContaining(told) }],
      })
    }
  })
})

test("training-api 1.2: a base model that the engine cannot compute: 422 that names its architecture and those it can", async () => {
  await withApp({ baseModels: [folder, "org/unsupported"] }, async ({ acme, fake }) => {
    const reason = "The base model's architecture 'Gemma2ForCausalLM' is not supported. Supported: LlamaForCausalLM."
    fake.handlers["base.resolve"] = () => {
      throw new EngineFailure("invalid", reason, "base_model")
    }
    for (const name of [folder, "org/unsupported"]) {
      expect(await create(acme, name)).toMatchObject({
        status: 422,
        detail: [{ loc: ["body", "base_model"], msg: `"${name}": ${reason}` }],
      })
    }
    // The refused request did not make the project, either.
    expect((await acme.post("/calls/query", { project_id: "acme/p" })).status).toBe(403)
  })
})

test.each(["../model", "a b", "models/of/mine"])("HEDDLE_BASE_MODELS with %j stops the start", async (entry) => {
  await expect(createApp({ ...testConfig(root), baseModels: ["org/listed", entry] })).rejects.toThrow(
    `HEDDLE_BASE_MODELS: "${entry}" is neither a model-hub path such as Qwen/Qwen3-0.6B nor an absolute folder nor *`,
  )
})

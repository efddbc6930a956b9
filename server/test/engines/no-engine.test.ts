import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type App, createApp } from "../../src/app.ts"
import { copyCatalogTemplate } from "../support/catalog-template.ts"
import { adminKey, callerOf, testConfig } from "../support/test-app.ts"
import { groupsOf } from "../support/training-app.ts"

let dataDir: string
let app: App
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "heddle-no-engine-"))
  await copyCatalogTemplate(dataDir)
  app = await createApp(testConfig(dataDir))
})
afterAll(async () => {
  await app.close()
  await rm(dataDir, { recursive: true, force: true })
})

test("HEDDLE_ENGINE=none: models can be made, chat and jobs answer 503 with the way out", async () => {
  const admin = callerOf(() => app, adminKey, "local")
  const model = await admin.post("/v1/preview/models", { project: "p", name: "m", base_model: "heddle/tiny" })
  expect(model.status).toBe(200)
  const { id } = model.body as { id: string }
  const jobs = {
    "/v1/preview/training-jobs": { model_id: id, trajectory_groups: groupsOf([0, 1]) },
    "/v1/preview/sft-training-jobs": { model_id: id, training_data_url: "https://example.org/train.jsonl" },
  }
  for (const [url, body] of Object.entries(jobs)) {
    const refused = await admin.post(url, body)
    expect(refused.status).toBe(503)
    expect(refused.body).toEqual({ detail: expect.stringContaining("start it with HEDDLE_ENGINE=process") })
  }
  const chat = await admin.post("/v1/chat/completions", {
    model: "heddle/tiny",
    messages: [{ role: "user", content: "hi" }],
  })
  expect(chat.status).toBe(503)
  expect(chat.body).toMatchObject({ error: { code: "engine_unavailable" } })
})

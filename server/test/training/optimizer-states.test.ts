/** Only newer checkpoints keep the state of their optimizer. */
import { writeFile } from "node:fs/promises"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { writeFakeCheckpoint } from "../../src/engines/fake-engine.ts"
import { defaultLimits } from "../../src/limits.ts"
import { checkpointPage } from "../../src/wire/training/checkpoint.ts"
import { jobPage } from "../../src/wire/training/job.ts"
import { newModel, openTrainingApp, trained, type TrainingApp } from "../support/training-app.ts"

let opened: TrainingApp
beforeAll(async () => {
  opened = await openTrainingApp({ limits: { ...defaultLimits, optimizer_states_per_model: 1 } })
  opened.fake.handlers.train = async (params) => {
    const result = await writeFakeCheckpoint(params, 0)
    await writeFile(path.join(params.output.path, "optimizer.safetensors"), "m".repeat(100))
    return { ...result, size_bytes: 150 }
  }
})
afterAll(() => opened.close())

test("older checkpoints shrink to their adapter; a job that has to start from one has a warning", async () => {
  const { id } = await newModel(opened.acme)
  const checkpoints = `/v1/preview/models/${id}/checkpoints`
  const sizes = async () =>
    checkpointPage
      .parse((await opened.acme.get(checkpoints)).body)
      .data.map(({ step, size_bytes }) => [step, size_bytes])
  const newestJob = async () => {
    const { data } = jobPage.parse((await opened.acme.get(`/v1/preview/training-jobs?model_id=${id}&limit=1`)).body)
    return data[0]
  }
  await trained(opened.acme, id)
  await trained(opened.acme, id)
  const shrunk = [
    [0, 0],
    [1, 50],
    [2, 150],
  ]
  await expect.poll(sizes, { timeout: 30_000 }).toEqual(shrunk)
  expect(await newestJob()).toMatchObject({ output_step: 2, warnings: [] })

  await opened.acme.delete(checkpoints, { steps: [2] })
  await trained(opened.acme, id)
  expect(await newestJob()).toMatchObject({
    output_step: 3,
    warnings: [expect.stringMatching(/^step 1, from which this job starts, no longer has its optimizer's state/)],
  })
})

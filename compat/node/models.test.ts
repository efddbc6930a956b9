/** The model list through the npm openai client. */
import OpenAI from "openai"
import { beforeAll, expect, test } from "vitest"
import { openai, registeredModel } from "./client.ts"
import { covers } from "./covers.ts"

let trained: string
beforeAll(async () => {
  trained = await registeredModel("node-models")
})

test(`${covers("models-list")} base and trained models are listed`, async () => {
  const models: OpenAI.Model[] = []
  for await (const model of openai().models.list()) models.push(model)
  expect(models.find((model) => model.id === "heddle/tiny")).toMatchObject({ object: "model" })
  expect(models.find((model) => model.id === trained)).toMatchObject({ parent: "heddle/tiny" })
  expect(models.every((model) => typeof model.created === "number")).toBe(true)
})

test.each(["", ":step0", ":latest"])(`${covers("models-retrieve")} artifact name%s`, async (suffix) => {
  expect((await openai().models.retrieve(trained + suffix)).id).toBe(trained + suffix)
})

test(`${covers("models-retrieve")} an unknown name is not found`, async () => {
  await expect(openai().models.retrieve("wandb-artifact:///local/compat/none")).rejects.toBeInstanceOf(
    OpenAI.NotFoundError,
  )
})

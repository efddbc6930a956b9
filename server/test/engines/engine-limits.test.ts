/** Limits of the real engine, and settings that reach it, through chats over HTTP. */
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { defaultLimits } from "../../src/limits.ts"
import { type Answer, type Caller, openTestApp, type TestApp } from "../support/test-app.ts"

const engineFolder = path.resolve(import.meta.dirname, "../../../engine")
const python = process.env["HEDDLE_PYTHON"] ?? path.join(engineFolder, ".venv/bin/python")

let opened: TestApp
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-engine-limits-"))
  opened = await openTestApp({
    engine: "process",
    python,
    engineMemory: { kv_bytes: 1_000_000, cache_bytes: 0, adapter_bytes: 1, unload_idle_s: 0 },
    limits: { ...defaultLimits, chat_template_ms: 2_000, grammar_bytes: 100_000, grammar_ms: 1_500 },
  })
}, 60_000)
afterAll(async () => {
  await opened.close()
  await rm(folder, { recursive: true, force: true })
})

function chat(content: string, fields: object = {}, caller: Caller = opened.acme): Promise<Answer> {
  const body = { model: "heddle/tiny", messages: [{ role: "user", content }], max_tokens: 2, ...fields }
  return caller.post("/v1/chat/completions", body)
}

/** Makes a model on a copy of the shipped base that has this chat template; returns its artifact name. */
async function modelWithTemplate(name: string, template: string): Promise<string> {
  const base = path.join(folder, name)
  await cp(path.join(engineFolder, "models/heddle-tiny"), base, { recursive: true })
  await writeFile(path.join(base, "chat_template.jinja"), template)
  const model = await opened.admin.post("/v1/preview/models", { project: "p", name, base_model: base })
  expect(model.status).toBe(200)
  return `wandb-artifact:///local/p/${name}:step0`
}

function messageOf(answer: Answer): string {
  return (answer.body as { error: { message: string } }).error.message
}

test("a prompt that is larger than the memory for keys and values is refused by the name of the setting", async () => {
  expect((await chat("hello")).status).toBe(200)
  const answer = await chat("a ".repeat(600))
  expect(answer.status).toBe(503)
  expect(messageOf(answer)).toMatch(
    /^the engine is out of memory: A sequence of \d+ tokens does not fit the memory for keys and values\. Shorten it, or start the server with a larger HEDDLE_ENGINE_KV_BYTES\.$/,
  )
}, 60_000)

test("a chat template that runs without end is stopped, and other chats are answered meanwhile", async () => {
  const loop = "{% for i in range(99999) %}"
  const model = await modelWithTemplate("endless", `${loop}${loop}{% endfor %}{% endfor %}`)
  let ended = 0
  const hostile = Array.from({ length: 4 }, () =>
    chat("x", { model }, opened.admin).then((answer) => ((ended += 1), answer)),
  )
  for (let i = 0; i < 3; i++) expect((await chat("hello")).status).toBe(200)
  // Of some the 2 s may be over on a busy machine.
  expect(ended).toBeLessThan(4)
  for (const answer of await Promise.all(hostile)) {
    expect([answer.status, messageOf(answer)]).toEqual([400, "The base model's chat template took longer than 2 s."])
  }
}, 120_000)

test("inference-api 3: a grammar that is too large or takes too long is refused, and other chats are answered", async () => {
  const order: string[] = []
  const hostile = Array.from({ length: 3 }, (_, i) =>
    chat("x", { guided_regex: `${".*".repeat(20_000)}${i}` }, opened.admin).then(
      (answer) => (order.push("hostile"), answer),
    ),
  )
  for (let i = 0; i < 3; i++) {
    expect((await chat("hello", { guided_choice: ["yes", "no"] })).status).toBe(200)
    order.push("another's")
  }
  expect(order.slice(0, 3)).toEqual(["another's", "another's", "another's"])
  for (const answer of await Promise.all(hostile)) {
    const message = "The answer cannot be held to guided_regex: compiling it took longer than 1.5 s."
    expect([answer.status, messageOf(answer)]).toEqual([400, message])
  }
  const large = await chat("x", { guided_choice: Array.from({ length: 99 }, (_, i) => `${i}${"x".repeat(5000)}`) })
  expect([large.status, messageOf(large)]).toEqual([
    400,
    "The answer cannot be held to guided_choice: it has 495584 bytes, and at most 100000 are taken. Make it smaller.",
  ])
}, 180_000)

/** The npm weave client 0.11.1: signing in, tracing, objects, datasets. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, beforeEach, expect, inject, test } from "vitest"
import * as weave from "weave"
import { covers } from "./covers.ts"
import { named, newProject, opName, stored, useServer, type WeaveClient } from "./weave.ts"

let client: WeaveClient
beforeAll(() => useServer(inject("server")))
beforeEach(async () => {
  client = await newProject()
})

const add = weave.op(async function add(a: number, b: number) {
  return a + b
})

test(`${covers("npm-weave-login")} login asks for health and keeps the key`, async () => {
  await weave.login(process.env["WANDB_API_KEY"] ?? "", "heddle.test")
  const netrc = join(process.env["HOME"] ?? "", ".netrc")
  expect(existsSync(netrc)).toBe(true)
  expect(readFileSync(netrc, "utf8")).toContain("heddle.test")
})

test(`${covers("npm-weave-op")} a call has its inputs, output and times`, async () => {
  expect(await add(2, 3)).toBe(5)
  const [call] = await stored(client)
  expect(call).toMatchObject({
    project_id: client.projectId,
    inputs: { arg0: 2, arg1: 3 },
    output: 5,
    parent_id: null,
    exception: null,
    summary: { weave: { status: "success" } },
  })
  expect(call?.op_name).toMatch(new RegExp(`^weave:///${client.projectId}/op/add:[A-Za-z0-9]{43}$`))
  expect(Date.parse(call?.started_at ?? "")).toBeLessThanOrEqual(Date.parse(call?.ended_at ?? ""))
})

test(`${covers("npm-weave-op")} a plain function becomes a promise`, async () => {
  const half = weave.op(function half(number: number) {
    return number / 2
  })
  expect(await Promise.resolve(half(3))).toBe(1.5)
  expect((await stored(client)).map((call) => call.output)).toEqual([1.5])
})

test(`${covers("npm-weave-op")} calls nest, sync and async`, async () => {
  const outer = weave.op(async function outer(numbers: number[]) {
    const sums = await Promise.all(numbers.map((number) => add(number, 1)))
    return sums.length
  })
  expect(await outer([1, 2, 3])).toBe(3)
  const calls = await stored(client)
  const [root] = named(calls, "outer")
  const children = named(calls, "add")
  expect(children.map((call) => call.parent_id)).toEqual([root?.id, root?.id, root?.id])
  expect(new Set(calls.map((call) => call.trace_id)).size).toBe(1)
  expect(new Set<unknown>(children.map((call) => call.output))).toEqual(new Set([2, 3, 4]))
})

test(`${covers("npm-weave-op")} a stream's chunks are put together`, async () => {
  const letters = weave.op(
    async function* letters() {
      for (const letter of "abc") {
        await Promise.resolve()
        yield letter
      }
    },
    {
      streamReducer: {
        initialStateFn: () => ({ text: "" }),
        reduceFn: (state: { text: string }, chunk: string) => ({ text: state.text + chunk }),
        finalizeFn: () => undefined,
      },
    },
  )
  let seen = ""
  for await (const letter of await Promise.resolve(letters())) seen += letter
  expect(seen).toBe("abc")
  const [call] = await stored(client)
  expect(call?.output).toEqual({ text: "abc" })
})

test(`${covers("npm-weave-own-key")} a client that is stored as self keeps its key to itself`, async () => {
  class Service {
    readonly options = { apiKey: process.env["WANDB_API_KEY"] ?? "", retries: 2 }
    async ask(question: string) {
      return question.length
    }
  }
  const service = new Service()
  service.ask = weave.op(service, service.ask)
  await service.ask("3 + 4 = ?")
  const [call] = await stored(client)
  expect(call?.inputs).toMatchObject({ self: { options: { apiKey: expect.stringMatching(/^\*{48}$/), retries: 2 } } })
})

test(`${covers("npm-weave-error")} an error is the call's exception`, async () => {
  const fails = weave.op(async function fails() {
    throw new Error("no luck")
  })
  await expect(fails()).rejects.toThrow("no luck")
  const [call] = await stored(client)
  expect(call?.exception).toContain("no luck")
  expect(call?.summary).toMatchObject({ weave: { status: "error" } })
})

test(`${covers("npm-weave-attributes")} attributes and display names, also in the call's end`, async () => {
  const greet = weave.op(
    async function greet(name: string) {
      return `hello ${name}`
    },
    { callDisplayName: (name) => `greet ${name}` },
  )
  const [, call] = await weave.withAttributes({ tenant: "t-1" }, () => greet.invoke("ada"))
  const [read] = await stored(client)
  expect(read).toMatchObject({ display_name: "greet ada", attributes: { tenant: "t-1" }, output: "hello ada" })
  await call.setDisplayName("renamed")
  expect((await client.getCall(read?.id ?? "")).display_name).toBe("renamed")
})

test(`${covers("npm-weave-batches")} hundreds of calls at once, with unusual characters, are all stored`, async () => {
  const text = 'line\u2028paragraph\u2029next\u0085 é 😀 \\ " \n \u0000'
  const echo = weave.op(async function echo(index: number, said: string) {
    return { index, said }
  })
  await Promise.all(Array.from({ length: 400 }, (_, index) => echo(index, text)))
  const calls = await stored(client)
  expect(calls.length).toBe(400)
  expect(new Set(calls.map((call) => (call.output as unknown as { index: number }).index)).size).toBe(400)
  expect(calls.every((call) => (call.output as unknown as { said: string }).said === text)).toBe(true)
  expect(calls.every((call) => call.ended_at !== null)).toBe(true)
})

test(`${covers("npm-weave-filter")} calls are filtered by op and by parent`, async () => {
  const other = weave.op(async function other() {
    return add(1, 1)
  })
  await other()
  await add(5, 5)
  const calls = await stored(client)
  const [root] = named(calls, "other")
  const inside = await client.getCalls({ parent_ids: [root?.id ?? ""] })
  expect(inside.map(opName)).toEqual(["add"])
  expect((await client.getCalls({ trace_roots_only: true })).map(opName).toSorted()).toEqual(["add", "other"])
  expect(await client.getCalls({}, false, 2)).toHaveLength(2)
  await expect(client.getCall("0193a8f0-0000-7000-8000-000000000000")).rejects.toThrow("Call not found")
})

test(`${covers("npm-weave-cost")} usage is priced`, async () => {
  const complete = weave.op(
    async function complete() {
      return { tokens: 1000 }
    },
    {
      summarize: ({ tokens }) => ({ usage: { "gpt-4o-mini": { requests: 1, prompt_tokens: tokens } } }),
    },
  )
  await complete()
  await client.waitForBatchProcessing()
  const [call] = await client.getCalls({}, true)
  const summary = call?.summary as
    | { weave: { costs: Record<string, { prompt_tokens_total_cost: number }> } }
    | undefined
  expect(summary?.weave.costs["gpt-4o-mini"]?.prompt_tokens_total_cost).toBeGreaterThan(0)
})

test(`${covers("npm-weave-object")} a value is published and read`, async () => {
  // A new value each time, because the client adds a member to the value that it publishes.
  const value = () => ({ list: [1, 2.5, null, true], text: "é\u2028😀", nested: { deep: {} } })
  const ref = await client.publish(value(), "thing")
  expect(ref.uri()).toMatch(new RegExp(`^weave:///${client.projectId}/object/thing:[A-Za-z0-9]{43}$`))
  expect(await client.get(ref)).toEqual(value())
  expect(await client.get(weave.ObjectRef.fromUri(ref.uri()))).toEqual(value())
})

test(`${covers("npm-weave-object")} a prompt is published and read`, async () => {
  const prompt = new weave.MessagesPrompt({ name: "greeting", messages: [{ role: "user", content: "Hi {name}" }] })
  const ref = await client.publish(prompt)
  const read = await weave.MessagesPrompt.get(client, ref.uri())
  expect(read.format({ name: "Ada" })).toEqual([{ role: "user", content: "Hi Ada" }])
})

test(`${covers("npm-weave-missing")} a missing object is a 404 at once`, async () => {
  const ref = weave.ObjectRef.fromUri(`weave:///${client.projectId}/object/nobody:v0`)
  await client.publish({ a: 1 }, "somebody")
  await expect(client.get(ref)).rejects.toSatisfy((error) => /404|not found/i.test(describe(error)))
})

function describe(error: unknown): string {
  return error instanceof Response ? String(error.status) : String(error)
}

test(`${covers("npm-weave-dataset")} a dataset is saved, its rows have refs`, async () => {
  const rows = Array.from({ length: 20 }, (_, n) => ({ n, half: n / 2, text: `row ${n}` }))
  const dataset = new weave.Dataset({ name: "numbers", rows })
  const ref = await dataset.save()
  const read = await client.get(ref)
  const seen: unknown[] = []
  for await (const row of read) seen.push({ ...row })
  expect(seen).toMatchObject(rows)
  expect(read.length).toBe(20)
})

test(`${covers("npm-weave-file")} an image is stored as a file`, async () => {
  const data = Buffer.from("89504e470d0a1a0a0000000d4948445200000001", "hex")
  const picture = weave.op(async function picture() {
    return weave.weaveImage({ data })
  })
  await picture()
  const [call] = await stored(client)
  expect(call?.output).toMatchObject({ _type: "CustomWeaveType", weave_type: { type: "PIL.Image.Image" } })
  const output = call?.output as { files: Record<string, string> } | undefined
  const answer = await client.traceServerApi.file.fileContentFileContentPost(
    { project_id: client.projectId, digest: output?.files["image.png"] ?? "" },
    { format: "arrayBuffer" },
  )
  expect(Buffer.from(answer.data as ArrayBuffer).equals(data)).toBe(true)
})

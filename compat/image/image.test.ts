/** The image of docs/guide/container.md, which `HEDDLE_TEST_IMAGE` names: it answers, stops, and keeps what its volume holds. */
import { chown, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { expect, test } from "vitest"
import { Container, run } from "./containers.ts"

const image = process.env["HEDDLE_TEST_IMAGE"] ?? ""
const project = "local/in-a-container"

/** The key that the first start prints, once it listens. */
async function keyOf(container: Container): Promise<string> {
  const printed = /API key, shown only this once: (\S+)/
  await expect.poll(() => container.log(), { timeout: 10_000 }).toMatch(printed)
  return printed.exec(await container.log())?.[1] ?? ""
}

async function ask(container: Container, key: string, method: string, address: string, body?: object) {
  const answer = await fetch(container.url + address, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: answer.status, text: await answer.text() }
}

async function chat(container: Container, key: string): Promise<void> {
  const messages = [{ role: "user", content: "4+5=" }]
  const answer = await ask(container, key, "POST", "/v1/chat/completions", { model: "heddle/tiny", messages })
  expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('"finish_reason"') })
}

async function storeCall(container: Container, key: string): Promise<string> {
  const start = {
    project_id: project,
    op_name: "say",
    started_at: new Date().toISOString(),
    attributes: {},
    inputs: {},
  }
  const { status, text } = await ask(container, key, "POST", "/call/start", { start })
  expect(status).toBe(200)
  return (JSON.parse(text) as { id: string }).id
}

const calls = async (container: Container, key: string) =>
  (await ask(container, key, "POST", "/calls/stream_query", { project_id: project })).text

test("a volume keeps keys and calls from one container to the next, and a stop is clean", async () => {
  const volume = await run("volume", "create")
  try {
    await using first = await Container.start(image, ["--volume", `${volume}:/data`])
    const key = await keyOf(first)
    await chat(first, key)
    const call = await storeCall(first, key)
    expect(await calls(first, key)).toContain(call)
    const page = await fetch(`${first.url}/`, { headers: { accept: "text/html" } })
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("<script")])
    expect(await first.stop()).toBe(0)

    await using second = await Container.start(image, ["--volume", `${volume}:/data`])
    expect(await second.log()).not.toContain("API key")
    expect(await calls(second, key)).toContain(call)
  } finally {
    await run("volume", "rm", "--force", volume)
  }
})

test("another user runs it, with a folder of their own and nothing else that can be written to", async () => {
  const [user, folder] = [23_456, await mkdtemp(path.join(tmpdir(), "heddle-image-"))]
  await chown(folder, user, user)
  try {
    const options = ["--user", `${user}:${user}`, "--read-only", "--tmpfs", "/tmp", "--volume", `${folder}:/data`]
    await using container = await Container.start(image, options)
    await chat(container, await keyOf(container))
    expect(await container.stop()).toBe(0)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

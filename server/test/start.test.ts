/** What a person sees who starts the server. */
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { createInterface } from "node:readline"
import { afterAll, beforeAll, expect, test } from "vitest"
import { copyCatalogTemplate } from "./support/catalog-template.ts"
import { launchServer } from "./support/server-process.ts"

let dataDir: string
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "heddle-start-"))
  await copyCatalogTemplate(dataDir)
})
afterAll(() => rm(dataDir, { recursive: true, force: true }))

test("the ready message comes without the HTTP library's own, the server's log lines stay", async () => {
  const { child, url } = launchServer(dataDir, { HEDDLE_PYTHON: "/bin/false", HEDDLE_LOG: "info" })
  const lines: string[] = []
  createInterface({ input: child.stdout! }).on("line", (line) => lines.push(line))
  const address = await url
  await expect.poll(() => lines.filter((line) => line.startsWith("{"))).not.toEqual([])
  child.kill("SIGTERM")
  await once(child, "exit")
  expect(lines.filter((line) => !line.startsWith("{"))).toEqual([`Heddle is ready at ${address} (data in ${dataDir})`])
  const logged = lines.filter((line) => line.startsWith("{")).map((line) => (JSON.parse(line) as { msg: string }).msg)
  expect(logged).toContain("engine ended")
  expect(logged.filter((message) => message.includes("listening"))).toEqual([])
})

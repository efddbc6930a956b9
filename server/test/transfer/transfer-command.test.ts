/** `npm run export` and `npm run import` against a listening server. */
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"
import { completedCall } from "../support/completed-call.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

const command = path.resolve(import.meta.dirname, "../../../scripts/heddle.mjs")

let world: EvaluationApp
let folder: string
let url: string
beforeAll(async () => {
  world = await openEvaluationApp()
  folder = await mkdtemp(path.join(tmpdir(), "heddle-transfer-"))
  url = await world.app.server.listen({ host: "127.0.0.1", port: 0 })
})
afterAll(async () => {
  await world.close()
  await rm(folder, { recursive: true, force: true })
})

async function heddle(...args: string[]): Promise<{ code: number; output: string }> {
  const env = { ...process.env, HEDDLE_URL: `${url}/traces/`, HEDDLE_API_KEY: world.acme.key }
  const run = promisify(execFile)(process.execPath, [command, ...args], { env })
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
    ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) => ({ code, output: stdout + stderr }),
  )
}

test.each(["jsonl", "csv", "parquet"])("calls leave as %s and come back", async (format) => {
  const [from, to] = [world.acme.newProject(), world.acme.newProject()]
  const batch = [completedCall(from, { id: 1 }), completedCall(from, { id: 2 })]
  await world.acme.post(`/v2/${from}/calls/complete`, { batch })
  const file = path.join(folder, `calls.${format}`)
  const request = ["--request", '{"limit":1}']
  expect(await heddle("export", "--project", from, "--out", file, ...request)).toMatchObject({ code: 0 })
  expect(await heddle("import", "--project", to, "--in", file)).toEqual({
    code: 0,
    output: "1 rows imported, 0 left out\n",
  })
  const [call] = await world.acme.lines("/calls/stream_query", { project_id: to })
  expect(call).toMatchObject({ id: batch[0]?.id, project_id: to })
})

test("a mistake prints one sentence and leaves no file", async () => {
  const file = path.join(folder, "none.csv")
  const project = "rival/secret"
  expect(await heddle("export", "--project", project, "--out", file)).toEqual({
    code: 1,
    output: expect.stringContaining('403 {"detail":"Project not found"}'),
  })
  expect((await heddle("export", "--project", project, "--out", "a.xlsx")).output).toContain(
    '--format is "xlsx": choose one of jsonl, csv, parquet',
  )
  expect((await heddle("import", "--project", project, "--in", file)).output).toContain("ENOENT")
  expect((await heddle("import", "--in", file)).output).toContain("--project is missing")
  expect((await heddle("export", "--nonsense")).output).toContain("--nonsense")
  expect((await readdir(folder)).filter((name) => name.startsWith("none"))).toEqual([])
  expect(await readFile(path.join(folder, "calls.csv"), "utf8")).toContain('"id"')
})

test.each(["SIGINT", "SIGTERM"] as const)("an export that %s ends leaves no part of a file", async (signal) => {
  const slow = createServer((_, answer) => void answer.writeHead(200).write("half a row"))
  await once(slow.listen(0, "127.0.0.1"), "listening")
  const file = path.join(folder, "stopped.jsonl")
  const where = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`
  const options = ["--project", "a/b", "--out", file, "--url", where, "--key", "k"]
  const exporting = spawn(process.execPath, [command, "export", ...options], { stdio: "ignore" })
  const ended = once(exporting, "exit")
  await expect.poll(() => readdir(folder), { timeout: 20_000 }).toContain("stopped.jsonl.part")
  exporting.kill(signal)
  expect(await ended).toEqual([null, signal])
  expect((await readdir(folder)).filter((name) => name.startsWith("stopped"))).toEqual([])
  slow.closeAllConnections()
  slow.close()
})

test("an import whose connection breaks says so and the way out; a server that is not there cannot be reached", async () => {
  const file = path.join(folder, "broken.jsonl")
  await writeFile(file, "{}\n")
  const breaks = createServer((asked) => asked.socket.destroy())
  await once(breaks.listen(0, "127.0.0.1"), "listening")
  const where = `http://127.0.0.1:${(breaks.address() as AddressInfo).port}`
  const options = ["import", "--project", "a/b", "--in", file, "--url", where]
  expect(await heddle(...options)).toEqual({
    code: 1,
    output: expect.stringMatching(
      /: the connection to http:\S+ broke: .+\. Run it again: what was stored already is not stored twice\n$/,
    ),
  })
  breaks.close()
  expect((await heddle(...options)).output).toMatch(/: http:\S+ cannot be reached: connect ECONNREFUSED \S+\n$/)
})

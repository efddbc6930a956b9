/** The log goes to a file whose disk is full, which `/dev/full` always is. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { expect, test } from "vitest"
import { copyCatalogTemplate } from "../support/catalog-template.ts"
import { freePort } from "../support/free-port.ts"
import { adminKey } from "../support/test-app.ts"

const main = path.resolve(import.meta.dirname, "../../src/main.ts")

test.runIf(process.platform === "linux")("a log that finds no room does not end the server", async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), "heddle-full-log-"))
  await copyCatalogTemplate(dataDir)
  const port = await freePort()
  const full = openSync("/dev/full", "w")
  const child = spawn(process.execPath, [main, "--port", `${port}`, "--data-dir", dataDir], {
    env: { ...process.env, HEDDLE_ADMIN_KEY: adminKey, HEDDLE_ENGINE: "none", HEDDLE_REQUEST_LOG: "on" },
    stdio: ["ignore", full, "ignore", "ipc"],
  })
  closeSync(full)
  const [ready] = await Promise.race([once(child, "message"), once(child, "exit")])
  expect(ready).toBe("ready")
  for (let request = 0; request < 3; request++) {
    const answer = await fetch(`http://127.0.0.1:${port}/health`)
    expect(answer.status).toBe(200)
    await answer.text()
  }
  child.kill("SIGTERM")
  expect(await once(child, "exit")).toEqual([0, null])
  await rm(dataDir, { recursive: true })
})

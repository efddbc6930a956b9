/** Starts the real server, with its real engine, once for all test files (a vitest global set-up). */
import { spawn, type ChildProcess } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { TestProject } from "vitest/node"

const root = join(import.meta.dirname, "..", "..")
const READY_TIMEOUT_MS = 240_000

export interface StartedServer {
  /** Origin, without a path. */
  url: string
  /** The key of the bootstrap admin. */
  key: string
}

declare module "vitest" {
  interface ProvidedContext {
    server: StartedServer
  }
}

export default async function startServer(project: TestProject): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "heddle-compat-"))
  const key = randomBytes(24).toString("hex")
  const child = spawn(process.execPath, ["server/src/main.ts", "--port", "0", "--data-dir", join(folder, "data")], {
    cwd: root,
    env: { ...process.env, HEDDLE_ADMIN_KEY: key, HEDDLE_ENTITY: "local" },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const stop = async () => {
    child.kill("SIGTERM")
    await ended
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    project.provide("server", { url: await ready(child), key })
  } catch (error) {
    await stop()
    throw error
  }
  return stop
}

/** The printed URL, once its health page answers 200. */
async function ready(child: ChildProcess): Promise<string> {
  let log = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => (log += text))
  }
  const deadline = Date.now() + READY_TIMEOUT_MS
  while (Date.now() < deadline && child.exitCode === null) {
    const url = log.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0]
    if (url && (await isHealthy(url))) return url
    await sleep(100)
  }
  throw new Error(`the server is not ready:\n${log.slice(-4000)}`)
}

async function isHealthy(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/v1/health`).catch(() => null)
  return answer?.status === 200
}

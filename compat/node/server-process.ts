/** Runs a real server on a data folder of its own; it may be killed and started again. */
import { spawn, type ChildProcess } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"

const root = join(import.meta.dirname, "..", "..")
const READY_TIMEOUT_MS = 240_000

export interface StartedServer {
  /** The server's origin, without a path. */
  url: string
  /** The key of the bootstrap admin. */
  key: string
}

export class ServerProcess {
  readonly #folder = mkdtempSync(join(tmpdir(), "heddle-compat-"))
  readonly #key = randomBytes(24).toString("hex")
  readonly #environment: Record<string, string>
  #child: ChildProcess | null = null
  #port = "0"

  constructor(environment: Record<string, string> = {}) {
    this.#environment = environment
  }

  /** Starts on the same port as before and waits until it answers; fails with the server's own output. */
  async start(): Promise<StartedServer> {
    const dataDir = join(this.#folder, "data")
    const child = spawn(process.execPath, ["server/src/main.ts", "--port", this.#port, "--data-dir", dataDir], {
      cwd: root,
      env: { ...process.env, HEDDLE_ADMIN_KEY: this.#key, HEDDLE_ENTITY: "local", ...this.#environment },
      stdio: ["ignore", "pipe", "pipe"],
    })
    this.#child = child
    const url = await ready(child)
    this.#port = new URL(url).port
    return { url, key: this.#key }
  }

  /** Kills the process as a crash does: it flushes nothing and closes no connection properly. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL")
  }

  /** Ends the process and removes its folder. */
  async close(): Promise<void> {
    await this.#end("SIGTERM")
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, "exit")
    child.kill(signal)
    await ended
  }
}

/** Waits until the health page answers 200; returns the URL that the server printed. */
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

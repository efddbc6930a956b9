/** Starts a Heddle server for a benchmark, which drives it over its public API only. */
import { randomBytes } from "node:crypto"
import path from "node:path"
import { ensureCatalogTemplate } from "../../scripts/setup/catalog.mjs"
import { projectNode } from "../../scripts/setup/node-modules.mjs"
import { serverEnvironment, serverFlags } from "../../scripts/setup/server-flags.mjs"
import type { CompletionServer } from "./completions.ts"
import { startProgram, type RunningProgram } from "./child-process.ts"
import { enginePython, vllmPython } from "./environments.ts"
import { freePort, requestJson, waitUntilReady } from "./http.ts"
import { fromRoot, logFile } from "./paths.ts"

const START_TIMEOUT_MS = 120_000
export const PROJECT = "bench"
export const ENTITY = "local"

export interface HeddleServer extends AsyncDisposable {
  readonly pid: number
  /** Seconds from process start to the first 200 of /v1/health. */
  readonly readySeconds: number
  get<T>(route: string): Promise<T>
  post<T>(route: string, body: unknown): Promise<T>
  readonly url: string
  readonly adminKey: string
  readonly headers: Record<string, string>
  readonly completions: CompletionServer
}

export const samplers = ["heddle", "vllm"] as const

export interface StartOptions {
  engine?: "process" | "none"
  /** What samples; the engine itself without it. */
  sampler?: (typeof samplers)[number]
  env?: Readonly<Record<string, string>>
  /** The folder of another checkout, whose server is started instead of this one's. */
  checkout?: string
}

export async function startHeddle(dataDir: string, options: StartOptions = {}): Promise<HeddleServer> {
  const python = await enginePython()
  const port = await freePort()
  const adminKey = randomBytes(32).toString("hex")
  const url = `http://127.0.0.1:${port}`
  const { checkout = fromRoot() } = options
  // As `npm start` does: a server that makes its catalog itself holds 400 MB more for its first minutes.
  const template = checkout === fromRoot() ? await ensureCatalogTemplate() : {}
  const began = performance.now()
  const address = ["--host", "127.0.0.1", "--port", String(port)]
  const program = startProgram(
    path.join(checkout, path.relative(fromRoot(), projectNode)),
    [...serverFlags, path.join(checkout, "server/src/main.ts"), ...address, "--data-dir", dataDir],
    logFile("heddle"),
    {
      env: {
        ...serverEnvironment,
        ...template,
        ...process.env,
        HEDDLE_ADMIN_KEY: adminKey,
        HEDDLE_ENTITY: ENTITY,
        HEDDLE_ENGINE: options.engine ?? "process",
        HEDDLE_PYTHON: python,
        ...(options.sampler === "vllm" ? { HEDDLE_SAMPLER: "vllm", HEDDLE_VLLM_PYTHON: await vllmPython() } : {}),
        HEDDLE_LOG: "warn",
        // One key sends all requests of a benchmark, which in practice many keys would share.
        HEDDLE_LIMIT_KEY_REQUESTS_PER_MINUTE: "1000000000",
        HF_HUB_OFFLINE: "1",
        ...options.env,
      },
    },
  )
  try {
    await waitUntilReady(`${url}/v1/health`, START_TIMEOUT_MS, () => program.assertAlive())
  } catch (error) {
    await program[Symbol.asyncDispose]()
    throw error
  }
  return connect(url, adminKey, program, (performance.now() - began) / 1000)
}

function connect(url: string, adminKey: string, program: RunningProgram, readySeconds: number): HeddleServer {
  const headers = { authorization: `Bearer ${adminKey}` }
  return {
    pid: program.pid,
    readySeconds,
    url,
    adminKey,
    headers,
    completions: { url, headers, extra: {} },
    get: (route) => requestJson("GET", url + route, undefined, headers),
    post(route, body) {
      program.assertAlive()
      return requestJson("POST", url + route, body, headers)
    },
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  }
}

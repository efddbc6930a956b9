/** Starts a server in a process of its own, for tests that kill it. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { readFile } from "node:fs/promises"
import path from "node:path"
import { createInterface } from "node:readline"
import { adminKey } from "./admin-key.ts"
import { copyCatalogTemplate } from "./catalog-template.ts"
import { newClickHouseUrl } from "./clickhouse-database.ts"
import { newPostgresUrl } from "./postgres-database.ts"

const main = path.resolve(import.meta.dirname, "../../src/main.ts")

/**
 * Flags of Node for servers that live for seconds: V8 does not optimize PGlite's WebAssembly. Such a server gains nothing by
 * that, and it is a seventh of the processor time of its start.
 */
const shortLived = ["--wasm-tiering-budget=1000000000"]

export interface RunningServer {
  process: ChildProcess
  url: string
}

/**
 * Makes new stores of the run's kind; returns them as settings, which are empty for stores embedded in the data folder.
 */
export async function newStores(dataDir: string): Promise<NodeJS.ProcessEnv> {
  const [postgres, clickhouse] = [await newPostgresUrl(), newClickHouseUrl()]
  if (postgres === null) await copyCatalogTemplate(dataDir)
  return {
    ...(postgres !== null && { HEDDLE_POSTGRES_URL: postgres }),
    ...(clickhouse !== null && { HEDDLE_CLICKHOUSE_URL: clickhouse }),
  }
}

/**
 * Starts a server. `url` rejects with the server's standard error if it ends before it is ready. `lines`: its standard
 * output so far.
 */
export function launchServer(
  dataDir: string,
  env: NodeJS.ProcessEnv,
  port = 0,
): { child: ChildProcess; url: Promise<string>; lines: readonly string[] } {
  const child = spawn(process.execPath, [...shortLived, main, "--port", `${port}`, "--data-dir", dataDir], {
    env: { ...process.env, HEDDLE_ADMIN_KEY: adminKey, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const lines: string[] = []
  const errors: string[] = []
  createInterface({ input: child.stderr }).on("line", (line) => errors.push(line))
  const url = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      lines.push(line)
      const found = /ready at (\S+)/.exec(line)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.once("exit", () => reject(new Error(errors.join("\n"))))
  })
  return { child, url, lines }
}

export async function startServer(dataDir: string, env: NodeJS.ProcessEnv): Promise<RunningServer> {
  const { child, url } = launchServer(dataDir, env)
  return { process: child, url: await url }
}

export async function endServer(server: RunningServer, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  server.process.kill(signal)
  await once(server.process, "exit")
}

export async function call(
  server: RunningServer,
  method: "GET" | "POST" | "PUT" | "DELETE",
  url: string,
  body?: object,
) {
  const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" }
  const payload = body === undefined ? {} : { body: JSON.stringify(body) }
  const answer = await fetch(server.url + url, { method, headers, ...payload })
  return { status: answer.status, body: await answer.json() }
}

/** Ids of the server's child processes, which are the engine's; Linux only. */
export async function childrenOf(server: RunningServer): Promise<number[]> {
  const { pid } = server.process
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")
  return text.split(" ").filter(Boolean).map(Number)
}

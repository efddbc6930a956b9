/** Starts `server/test/support/clickhouse-http.ts`, which serves ClickHouse's HTTP protocol from chDB, for tests. */
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { projectNode } from "./node-modules.mjs"
import { fromRoot } from "./paths.mjs"
import { SetupError } from "./progress.mjs"

const START_TIMEOUT_MS = 60_000
const STOP_TIMEOUT_MS = 20_000

/** Starts one with an empty store; `url` is its address, `stop()` ends it and deletes its data. */
export async function startClickHouse() {
  const script = fromRoot("server", "test", "support", "clickhouse-http.ts")
  const server = spawn(projectNode, [script], { stdio: ["ignore", "pipe", "inherit"] })
  const ended = new Promise((resolve) => server.on("exit", resolve))
  const stop = async () => {
    server.kill("SIGTERM")
    const timer = setTimeout(() => server.kill("SIGKILL"), STOP_TIMEOUT_MS)
    await ended
    clearTimeout(timer)
  }
  const timer = setTimeout(() => server.kill("SIGKILL"), START_TIMEOUT_MS)
  const url = await firstLine(server.stdout)
  clearTimeout(timer)
  if (url === null) throw new SetupError("ClickHouse's protocol could not be served from chDB; the lines above say why")
  return { url, stop }
}

async function firstLine(stream) {
  for await (const line of createInterface({ input: stream })) return line
  return null
}

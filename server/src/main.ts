/** Start and drain of one server process. */
import { enableCompileCache, flushCompileCache } from "node:module"
import path from "node:path"
import { inspect } from "node:util"
import type { Welcome } from "./app.ts"
import { type Config, readConfig } from "./config.ts"
import { giveBackFreedMemory } from "./freed-memory.ts"

/** Files of server and engine are private to this user: the data folder holds payloads, key hashes and secrets. */
process.umask(0o077)

/** Compiled modules of the last start: 0.33 s instead of 0.7 s to load them (2 cores). */
const compileCache = path.resolve(import.meta.dirname, "../../node_modules/.cache/heddle")

/** Threads of libuv's pool for files, compression and the statements of the embedded trace store that write or stop others. */
const threadsBesideQueries = 10

/**
 * Connections that wait to be accepted; the system may allow fewer. A client whose connection finds no room tries again a
 * second later, and libuv's own 511 are soon there while the event loop is busy.
 */
const mostUnaccepted = 4_096

/** A stop cuts requests off and ends by itself before; after this long something hangs, or a start is at work on old tables. */
const stopMs = 28_000

/** Within it a signal is the same one again: systemd signals `npm start`, which passes it on, and the server as well. */
const sameStopMs = 1_000

async function main(): Promise<void> {
  const config = readConfig(process.argv.slice(2), process.env)
  // Each statement of the embedded trace store keeps a thread, and libuv's own 4 would soon be taken. It reads this once.
  const { trace_queries_at_once: queries, trace_exports_at_once: exports } = config.limits
  process.env["UV_THREADPOOL_SIZE"] ??= `${queries + exports + threadsBesideQueries}`
  enableCompileCache(compileCache)
  // Threads have no cache but that of their environment.
  process.env["NODE_COMPILE_CACHE"] = compileCache
  // Only what is loaded from here on comes from the cache and goes to it.
  const { createApp } = await import("./app.ts")
  const starting = createApp(config)
  onStop(() => stop(starting))
  const app = await starting
  if (isStopping) return
  const { host, port } = config
  const url = await app.server.listen({ host, port, backlog: mostUnaccepted }).catch(async (cause: unknown) => {
    await app.close()
    throw cannotListen(config, cause)
  })
  if (isStopping) return
  // Not before: a start that fails, on a port in use for instance, would leave a key that nobody has seen.
  announce(config, url, app.engineLines(), await app.welcome())
  isReady = true
  // To `npm start`, which then builds the pages; a process that is started otherwise has no such channel.
  process.send?.("ready")
  // A server is often killed, and what is written at exit would be lost.
  flushCompileCache()
  giveBackFreedMemory()
}

let isReady = false
let isStopping = false

/** Ends the process when everything is closed that the start has opened, or will have. */
function stop(starting: Promise<{ close: () => Promise<void> }>): void {
  isStopping = true
  if (!isReady) process.stdout.write("Heddle stops before it is ready\n")
  // A start that is cut off has done what was asked of it: every store bears a kill.
  const status = isReady ? 1 : 0
  setTimeout(() => process.exit(status), stopMs).unref()
  void starting
    .then((app) => app.close())
    .then(
      () => process.exit(0),
      () => process.exit(status),
    )
}

/** The first signal begins the stop; one that comes after it, and is another, ends the process at once. */
function onStop(begin: () => void): void {
  let began: number | null = null
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (began === null) {
        began = performance.now()
        begin()
      } else if (performance.now() - began > sameStopMs) {
        process.removeAllListeners(signal)
        process.kill(process.pid, signal)
      }
    })
  }
}

/** Advice to the operator for known failures of listen(); for others the system's message must do. */
const listenFaults: Record<string, string> = {
  EADDRINUSE: "the port is in use. Stop what listens there, or choose another with --port; 0 takes a free one",
  EACCES: "this user may not use the port. Choose one above 1023 with --port",
  EADDRNOTAVAIL: "this machine does not have the address. Choose one of its own with --host; 0.0.0.0 takes all",
  ENOTFOUND: "no such host is known. Choose an address of this machine with --host; 0.0.0.0 takes all",
}

function cannotListen({ host, port }: Config, cause: unknown): Error {
  const { code = "", message } = cause as NodeJS.ErrnoException
  return new Error(`cannot listen on ${host} port ${port}: ${listenFaults[code] ?? message}`, { cause })
}

function announce(config: Config, url: string, engines: string[], welcome: Welcome | null): void {
  const lines = [`Heddle is ready at ${url} (data in ${config.dataDir})`, ...engines.map((line) => `Engine ${line}`)]
  if (welcome !== null) {
    lines.push(
      "",
      `Your API key, shown only this once: ${welcome.key}`,
      "It is an administrator's key. Keep it safe.",
      "",
      `Open this link to sign your browser in: ${url}${welcome.signInPath}`,
      `It works once, until ${welcome.signInUntil.toLocaleTimeString()}.`,
      "",
    )
  }
  process.stdout.write(`${lines.join("\n")}\n`)
}

try {
  await main()
} catch (error) {
  // What fails because everything is being closed says nothing.
  if (isStopping) await new Promise(() => undefined)
  const reason = error instanceof Error && error.message ? error.message : inspect(error)
  process.stderr.write(`Heddle cannot start: ${reason}\n`)
  if (process.env["HEDDLE_LOG"] === "debug") console.error(error)
  process.exit(1)
}

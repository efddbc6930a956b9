/** Starts a server in a process of its own, whose event loop and memory are measured from inside. */
import { type ChildProcess, fork } from "node:child_process"
import { randomBytes } from "node:crypto"
import { on, once } from "node:events"
import path from "node:path"
import { createInterface } from "node:readline"

/** Figures since the last reading. */
export interface ProbeReading {
  /** Wall-clock time, which includes time in which other programs had the processor. */
  longestStallMs: number
  /** Processor time of the event loop's thread in its longest turn, which a busy machine does not change. */
  longestWorkMs: number
  peakBytes: number
  /** Memory at the time of the reading. */
  residentBytes: number
}

export interface WatchedServer {
  url: string
  /** Key of the administrator, whose team is `local`. */
  key: string
  read: () => Promise<ProbeReading>
  close: () => Promise<void>
}

const probe = new URL("./loop-delay-probe.ts", import.meta.url).href

const main = path.resolve(import.meta.dirname, "../../src/main.ts")

export async function startWatchedServer(dataDir: string): Promise<WatchedServer> {
  const key = randomBytes(32).toString("hex")
  const child = fork(main, ["--port", "0", "--data-dir", dataDir], {
    execArgv: ["--import", probe],
    env: { ...process.env, HEDDLE_ADMIN_KEY: key, HEDDLE_ENTITY: "local", HEDDLE_ENGINE: "none", HEDDLE_LOG: "warn" },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  })
  return { url: await addressOf(child), key, read: () => readingOf(child), close: () => end(child) }
}

function addressOf(child: ChildProcess): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  child.once("exit", (code) => reject(new Error(`the server ended with ${code} before it was ready`)))
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
    const found = /ready at (\S+)/.exec(line)?.[1]
    if (found !== undefined) resolve(found)
  })
  return promise
}

async function readingOf(child: ChildProcess): Promise<ProbeReading> {
  const messages = on(child, "message") as AsyncIterable<[ProbeReading | "ready"]>
  child.send("read")
  // The server also sends "ready" to the process that started it.
  for await (const [message] of messages) if (message !== "ready") return message
  throw new Error("the server ended before it answered")
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = once(child, "exit")
  child.kill("SIGTERM")
  await ended
}

/** Runs other programs for the set-up. */
import { spawn, spawnSync } from "node:child_process"
import { createWriteStream, mkdirSync } from "node:fs"
import { dirname, relative } from "node:path"
import { createInterface } from "node:readline"
import { root } from "./paths.mjs"
import { SetupError } from "./progress.mjs"

/** Runs a short command and returns its trimmed standard output, or null when it fails. */
export function ask(command, args, options = {}) {
  const done = spawnSync(command, args, { encoding: "utf8", timeout: 120_000, ...options })
  return done.status === 0 ? done.stdout.trim() : null
}

/**
 * Runs a long command; its output goes to `log`, each line also to `detail`. A signal that ends this process ends the
 * command too; with `until`, the command ends when that is aborted instead, and the caller handles signals.
 * Throws a SetupError with the last lines and the log's path when it fails.
 */
export async function runLogged(command, args, { log, detail, until, ...options }) {
  mkdirSync(dirname(log), { recursive: true })
  const file = createWriteStream(log)
  // The child leads a group of its own: npm and pip start programs, and all of them have to end with this process.
  const start = () => spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], detached: true, ...options })
  const { child, release } = until ? startWith(start, until) : startTogether(start)
  const last = []
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => {
      file.write(`${line}\n`)
      last.push(line)
      if (last.length > 15) last.shift()
      detail?.(line)
    })
  }
  const code = await new Promise((resolve, reject) => {
    child.on("error", (cause) => reject(new SetupError(`cannot run ${command}: ${cause.message}`)))
    child.on("close", (status, signal) => resolve(status ?? signal))
  }).finally(release)
  file.end()
  if (code !== 0) {
    const commandLine = [command, ...args].join(" ")
    throw new SetupError(
      `${commandLine}\nended with ${code}:\n${last.map((line) => `  ${line}`).join("\n")}\nwhole output: ${relative(root, log)}`,
    )
  }
}

/** Signals that end a command. */
export const endings = ["SIGINT", "SIGTERM", "SIGHUP"]

/** Calls `tidy` before a signal ends this process. Returns what takes this back. */
export function beforeEnding(tidy) {
  const pass = (signal) => {
    tidy()
    release()
    process.kill(process.pid, signal)
  }
  const release = () => endings.forEach((signal) => process.off(signal, pass))
  for (const signal of endings) process.on(signal, pass)
  return release
}

/** Starts a child whose group ends before a signal ends this process. `release` takes this back. */
function startTogether(start) {
  // Before it starts: a signal that comes while it does is handled right after.
  const release = beforeEnding(() => endGroup(child))
  const child = start()
  return { child, release }
}

/** Starts a child whose group ends when `until` is aborted. `release` takes this back. */
function startWith(start, until) {
  const child = start()
  const end = () => endGroup(child)
  until.addEventListener("abort", end)
  if (until.aborted) end()
  return { child, release: () => until.removeEventListener("abort", end) }
}

function endGroup(child) {
  try {
    // SIGTERM for every signal, because programs that a shell started in the background ignore SIGINT.
    process.kill(-child.pid, "SIGTERM")
  } catch {}
}

/**
 * Replaces this process as far as Node allows: same terminal, signals passed on, same exit code. `onMessage` gets the
 * messages that the program sends over its IPC channel.
 */
export async function become(command, args, { onMessage, ...options } = {}) {
  const stdio = onMessage ? ["inherit", "inherit", "inherit", "ipc"] : "inherit"
  const child = spawn(command, args, { stdio, ...options })
  if (onMessage) child.on("message", onMessage)
  // A terminal's Ctrl-C reaches the child by itself; for SIGINT the handler only keeps this process alive until it
  // ends.
  for (const signal of endings) {
    process.on(signal, () => signal !== "SIGINT" && child.kill(signal))
  }
  const [code, signal] = await new Promise((resolve, reject) => {
    child.on("error", reject)
    child.on("exit", (...ended) => resolve(ended))
  })
  process.exitCode = code ?? 128 + ({ SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }[signal] ?? 0)
}

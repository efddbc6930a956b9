/** Starts a program in a process group of its own, and ends all its processes with the benchmark. */
import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process"
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs"
import path from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { descendants } from "./machine.ts"

const STOP_GRACE_MS = 20_000

const running = new Set<RunningProgram>()
process.on("exit", () => running.forEach((program) => program.kill()))
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130))

export interface RunningProgram extends AsyncDisposable {
  readonly pid: number
  readonly child: ChildProcess
  /** The last lines it wrote to its log. */
  logTail(): string
  /** Throws with the log's tail when it has ended. */
  assertAlive(): void
  kill(): void
}

/** `log` takes what the program writes; `stdin` and `stdout` are pipes when `piped`. */
export function startProgram(
  command: string,
  args: string[],
  log: string,
  options: SpawnOptions & { piped?: boolean } = {},
): RunningProgram {
  mkdirSync(path.dirname(log), { recursive: true })
  const file = openSync(log, "w")
  const pipe = options.piped ? "pipe" : null
  const child = spawn(command, args, {
    ...options,
    detached: true,
    stdio: [pipe ?? "ignore", pipe ?? file, file],
  })
  closeSync(file)
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()).once("error", () => resolve()))
  const program: RunningProgram = {
    pid: child.pid ?? -1,
    child,
    logTail: () => readFileSync(log, "utf8").trimEnd().split("\n").slice(-25).join("\n"),
    assertAlive() {
      if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) return
      throw new Error(
        `${command} ${args.join(" ")}\nended with ${child.exitCode ?? child.signalCode}:\n${this.logTail()}`,
      )
    },
    kill() {
      if (child.pid === undefined) return
      // Programs that it started may have left the group; those still in the process tree are ended one by one.
      for (const pid of descendants(child.pid)) signalQuietly(pid)
      signalQuietly(-child.pid)
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM")
      await Promise.race([ended, sleep(STOP_GRACE_MS, undefined, { ref: false })])
      this.kill()
      running.delete(program)
    },
  }
  running.add(program)
  return program
}

function signalQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // Already gone.
  }
}

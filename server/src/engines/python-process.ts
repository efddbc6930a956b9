/** Starts the Python engine as a child process that cannot outlive the server. */
import { type ChildProcess, spawn } from "node:child_process"
import path from "node:path"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"

/** A started engine, whatever it is made of. */
export interface EngineProcess {
  /** Resolves when it has ended, with how. */
  exited: Promise<string>
  /** Asks it to leave: a closed standard input. */
  leave(): void
  kill(signal: NodeJS.Signals): void
}

/** Starts an engine that will listen on `socketPath`; `log` gets its output line by line. */
export type LaunchEngine = (socketPath: string, log: (line: string) => void) => EngineProcess

/** Options listed in `engine/heddle_engine/settings.py`, by their names there; null leaves the choice to the engine. */
export type EngineOptions = Readonly<Record<string, number | string | null>>

const engineFolder = path.resolve(import.meta.dirname, "../../../engine")

/** `environment`: all variables that the process gets. */
export function pythonLauncher(
  python: string,
  environment: Readonly<Record<string, string>>,
  options: EngineOptions = {},
): LaunchEngine {
  return (socketPath, log) => {
    const settings = ["--listen", `unix:${socketPath}`, "--exit-with-stdin", ...commandLine(options)]
    const child = spawn(python, ["-m", "heddle_engine", ...settings], {
      cwd: engineFolder,
      env: environment,
      stdio: ["pipe", "pipe", "pipe"],
      // Ctrl-C reaches the whole foreground group: the server decides when the engine stops.
      detached: true,
    })
    child.stdin.on("error", () => undefined)
    forwardLines(child.stdout, log)
    forwardLines(child.stderr, log)
    return {
      exited: exitOf(child, python),
      leave: () => child.stdin.end(),
      kill: (signal) => child.kill(signal),
    }
  }
}

function commandLine(options: EngineOptions): string[] {
  return Object.entries(options).flatMap(([name, value]) =>
    value === null ? [] : [`--${name.replaceAll("_", "-")}`, `${value}`],
  )
}

function forwardLines(stream: Readable, log: (line: string) => void): void {
  createInterface({ input: stream, crlfDelay: Infinity }).on("line", log)
}

function exitOf(child: ChildProcess, python: string): Promise<string> {
  return new Promise((resolve) => {
    child.once("error", (error) =>
      resolve(`the engine's Python could not be started: ${error.message} (${python}; HEDDLE_PYTHON names another)`),
    )
    child.once("exit", (code, signal) => resolve(describeExit(code, signal)))
  })
}

function describeExit(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal === "SIGKILL") return "the engine process was killed (SIGKILL; the system does this when memory runs out)"
  if (signal !== null) return `the engine process was ended by ${signal}`
  return `the engine process ended with exit code ${code}`
}

/** Starts the tools of a test run. */
import { spawn } from "node:child_process"
import { mkdirSync, rmSync } from "node:fs"
import { delimiter, join } from "node:path"
import { createInterface } from "node:readline"
import { cache, fromRoot, root } from "../setup/paths.mjs"

const ofTests = {
  PYTHONDONTWRITEBYTECODE: "",
  NODE_COMPILE_CACHE: fromRoot("node_modules", ".cache", "heddle"),
  OMP_WAIT_POLICY: "PASSIVE",
}

/** A tool that runs longer is ended, so that a suite that hangs does not hang the whole run. */
const TIMEOUT_MS = 40 * 60_000

/**
 * Runs a tool in the repository folder with its output on the terminal; returns its exit status. With a `label`, each
 * line of output begins with it, for tools that run at the same time.
 *
 * Python and Node keep their compiled modules, whatever the environment says: otherwise each process would compile a client
 * anew, and each thread the server. Threads of engines sleep while they wait for each other, as there are more processes than
 * cores.
 */
export function runTool(command, args, env = {}, label) {
  const PATH = [fromRoot("node_modules", ".bin"), process.env.PATH].join(delimiter)
  const stdio = label === undefined ? "inherit" : ["inherit", "pipe", "pipe"]
  const child = spawn(command, args, {
    cwd: root,
    stdio,
    env: { ...process.env, ...ofTests, PATH, ...env },
  })
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on("line", (line) => console.log(`${label}  ${line}`))
  }
  const timer = setTimeout(() => {
    console.log(`stopped after ${TIMEOUT_MS / 60_000} minutes`)
    child.kill("SIGKILL")
  }, TIMEOUT_MS)
  return new Promise((resolve) => {
    child.on("error", (cause) => {
      console.log(`cannot run ${command}: ${cause.message}`)
      resolve(127)
    })
    child.on("exit", (code, signal) => {
      clearTimeout(timer)
      resolve(code ?? signal)
    })
  })
}

/** The path for a runner's report or cache. An old one is deleted, so that it cannot be taken for the new one. */
export function reportPath(name) {
  const folder = join(cache, "reports")
  mkdirSync(folder, { recursive: true })
  const path = join(folder, name)
  rmSync(path, { force: true, recursive: true })
  return path
}

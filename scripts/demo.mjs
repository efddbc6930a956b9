/**
 * Runs the whole loop once: starts the server, lets a real ART script teach the shipped model three tasks
 * (examples/art_loop), and leaves the server running.
 *
 * Usage: npm run demo [-- --once] [-- --json] [-- --port 8080] [-- --data-dir ./data]
 * --once stops after the loop; --json prints the measurements as the last line of standard output.
 */
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { createWriteStream, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join, relative } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"
import { ensureCatalogTemplate } from "./setup/catalog.mjs"
import { ensureClients } from "./setup/clients.mjs"
import { ensureEngine } from "./setup/engine.mjs"
import { ensureNodeModules, projectNode } from "./setup/node-modules.mjs"
import { cache, fromRoot, root } from "./setup/paths.mjs"
import { SetupError } from "./setup/progress.mjs"
import { serverEnvironment, serverFlags } from "./setup/server-flags.mjs"
import { tryBuildWeb } from "./setup/web.mjs"

const READY_TIMEOUT_MS = 240_000
const PORTS_TRIED = 50
const LAST_PORT = 65535

export async function main(args) {
  const options = readOptions(args)
  await ensureNodeModules()
  const [enginePython, template] = await Promise.all([ensureEngine(), ensureCatalogTemplate()])
  const [artPython] = await Promise.all([ensureClients("art-0.5.18", "art-demo"), tryBuildWeb()])
  const port = await freePort(options.port)
  const key = demoKey()
  const server = startServer(port, options.dataDir, key, { HEDDLE_PYTHON: enginePython, ...template })
  try {
    const name = `three-tasks-${randomBytes(2).toString("hex")}`
    const measured = await runLoop(server, artPython, key, name)
    if (!measured) return
    if (options.json) console.log(JSON.stringify(measured))
    if (options.once) return
    showNextSteps(server.url, key, name, await signInLink(server.url, key))
    await server.ended
  } finally {
    await server.stop()
  }
}

function readOptions(args) {
  try {
    const { values } = parseArgs({
      args,
      options: {
        once: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        port: { type: "string", default: process.env.HEDDLE_PORT ?? "8080" },
        "data-dir": { type: "string", default: process.env.HEDDLE_DATA_DIR ?? "./data" },
      },
    })
    return { ...values, port: readPort(values.port), dataDir: values["data-dir"] }
  } catch (error) {
    throw new SetupError(error.message)
  }
}

function readPort(text) {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Infinity
  if (port > LAST_PORT) throw new SetupError(`port must be a whole number from 0 to ${LAST_PORT}, not "${text}"`)
  return port
}

/** The wanted port, or the next one that is free; for 0, any free port. */
async function freePort(wanted) {
  const last = Math.min(wanted + PORTS_TRIED - 1, LAST_PORT)
  for (let port = wanted; port <= last; port++) {
    const free = await tryPort(port)
    if (free !== null) return free
  }
  throw new SetupError(`no free port from ${wanted} to ${last}: choose one with --port`)
}

/** The port that the system gives for `wanted`, or null when it is in use. */
function tryPort(wanted) {
  return new Promise((resolve) => {
    const probe = createServer().once("error", () => resolve(null))
    probe.listen(wanted, "127.0.0.1", () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}

/** The demo's key, the same in every run on this machine, so that the data folder gets one key and no more. */
function demoKey() {
  if (process.env.HEDDLE_ADMIN_KEY) return process.env.HEDDLE_ADMIN_KEY
  const path = join(cache, "demo-key")
  if (!existsSync(path)) writeFileSync(path, randomBytes(24).toString("hex"), { mode: 0o600 })
  return readFileSync(path, "utf8").trim()
}

function startServer(port, dataDir, key, settings) {
  const logPath = join(cache, "logs", "demo-server.log")
  mkdirSync(join(cache, "logs"), { recursive: true })
  const command = [...serverFlags, fromRoot("server/src/main.ts"), "--port", `${port}`, "--data-dir", dataDir]
  const child = spawn(projectNode, command, {
    env: { ...serverEnvironment, ...process.env, HEDDLE_ADMIN_KEY: key, ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const log = createWriteStream(logPath)
  child.stdout.pipe(log, { end: false })
  child.stderr.pipe(log, { end: false })
  const ended = new Promise((resolve) => child.once("exit", resolve))
  let interrupted = false
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => {
      interrupted = true
      child.kill("SIGTERM")
    })
  }
  const failure = (what) => {
    const lines = readFileSync(logPath, "utf8").trimEnd().split("\n").slice(-20)
    return new SetupError(
      `${what}:\n${lines.map((line) => `  ${line}`).join("\n")}\nwhole log: ${relative(root, logPath)}`,
    )
  }
  return {
    url: `http://127.0.0.1:${port}`,
    began: performance.now(),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    isInterrupted: () => interrupted,
    ended,
    failure,
    stop: () => (child.kill("SIGTERM"), ended),
  }
}

/** Runs the example against the server; returns what both measured, or null when the user stopped it. */
async function runLoop(server, python, key, name) {
  // The example runs in a folder of its own, because ART writes its logs where it is started.
  const folder = join(cache, "demo")
  mkdirSync(folder, { recursive: true })
  const report = join(folder, "report.json")
  const script = fromRoot("examples/art_loop/train.py")
  const example = spawn(python, ["-u", script, "--url", server.url, "--name", name, "--report", report], {
    cwd: folder,
    env: { ...process.env, HEDDLE_API_KEY: key, TQDM_DISABLE: "1" },
    stdio: "inherit",
  })
  const exampleEnded = new Promise((resolve) => example.once("exit", resolve))
  try {
    await ready(server)
    if (server.isInterrupted()) return null
    console.log(`Watch it in the browser, signed in: ${await signInLink(server.url, key)}\n`)
    const readyAt = Date.now() / 1000
    const ready_s = (performance.now() - server.began) / 1000
    const code = await Promise.race([exampleEnded, server.ended.then(() => "dead")])
    if (server.isInterrupted()) return null
    if (code === "dead") throw server.failure("the server ended during the demo")
    if (code !== 0) throw server.failure(`the example ended with ${code}; the server's last lines`)
    const { first_reward_at, ...measured } = JSON.parse(readFileSync(report, "utf8"))
    return { ready_s: round(ready_s), first_reward_s: round(first_reward_at - readyAt), ...rounded(measured) }
  } finally {
    example.kill("SIGTERM")
  }
}

async function ready(server) {
  const deadline = Date.now() + READY_TIMEOUT_MS
  while (Date.now() < deadline && server.isRunning()) {
    const answer = await fetch(`${server.url}/v1/health`).catch(() => null)
    if (answer?.status === 200) return
    await sleep(100)
  }
  if (server.isInterrupted()) return
  throw server.failure(server.isRunning() ? "the server is not ready" : "the server did not start")
}

const round = (value) => Math.round(value * 1000) / 1000
const rounded = (values) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Array.isArray(value) ? value.map(round) : round(value)]),
  )

/** A link that signs a browser in once, and opens the project of the example. */
async function signInLink(url, key) {
  const answer = await fetch(`${url}/v1/sign-in-links`, { method: "POST", headers: { authorization: `Bearer ${key}` } })
  if (!answer.ok) throw new SetupError(`no sign-in link: ${answer.status} ${await answer.text()}`)
  const { token } = await answer.json()
  return `${url}/login?to=/${examples()}#token=${token}`
}

/** The project in which the example trains. */
const examples = () => `${process.env.HEDDLE_ENTITY || "local"}/examples`

function showNextSteps(url, key, name, link) {
  const question = {
    model: `wandb-artifact:///${examples()}/${name}`,
    messages: [{ role: "user", content: "4 + 5 = ?" }],
  }
  console.log(`The server stays up at ${url} until you press Ctrl-C. Try next:

  look at it, in a browser ${link}
  label ten of its answers there: Labelling, New queue, Take all traces; then train on the labels
  ask the trained model    curl ${url}/v1/chat/completions -H 'Authorization: Bearer ${key}' \\
                             -H 'Content-Type: application/json' -d '${JSON.stringify(question)}'
  the API's reference      ${url}/docs/
  teach it your own tasks  copy examples/art_loop, put your questions and rewards into tasks.py, then
                           HEDDLE_API_KEY=${key} python train.py --url ${url}
  other clients            docs/guide/clients.md
`)
}

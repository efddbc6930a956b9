/** The client suites: sets of Python and npm clients, the tests of each, and the requirements that the tests cite. */
import { globSync, readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { pinOf, requirementsOf, root } from "../locks/python-locks.ts"

export interface ClientSet {
  /** Name of its lock file, and of the suite in `npm test`. */
  name: string
  clients: Client[]
  /** The day when its versions were chosen: the newest of that day, or those that its name says. */
  pinned: string
  /** Paths of its tests in `compat/`. */
  files: string[]
}

interface Client {
  name: string
  version: string
  /** The tests of the set that use this client. */
  files: string[]
}

export interface Suite {
  /** Path in `compat/`. */
  file: string
  /** The first line of its header comment. */
  about: string
  /** Ids in `compat/requirements.json`. */
  covers: string[]
}

interface StoredSet {
  clients: string[]
  pinned: string
  suites: string[]
}

const compat = path.join(root, "compat")
const readJson = (file: string): unknown => JSON.parse(readFileSync(path.join(compat, file), "utf8"))

export function pythonSets(): ClientSet[] {
  const sets = Object.entries(readJson("python/sets.json") as Record<string, StoredSet>)
  return sets.map(([name, { clients, pinned, suites }]) => {
    const pins = requirementsOf(readFileSync(path.join(compat, `python/locks/${name}.txt`), "utf8")).map(pinOf)
    const versionOf = (client: string) =>
      pins.find((pin) => pin !== null && normal(pin.name) === client)?.version ?? `not in the lock of ${name}`
    const files = globSync(suites, { cwd: path.join(compat, "python") }).map((file) => `python/${file}`)
    const sorted = files.toSorted()
    return {
      name,
      clients: clients.map((client) => ({ name: client, version: versionOf(client), files: using(client, sorted) })),
      pinned,
      files: sorted,
    }
  })
}

/**
 * Modules of Python packages whose module is not the package's name with underscores; patterns of a regular expression.
 */
const modules: Readonly<Record<string, string>> = {
  "openpipe-art": "art|art_session",
  "openai-agents": "agents",
  "pydantic-ai-slim": "pydantic_ai",
  "opentelemetry-exporter-otlp-proto-http": "opentelemetry.exporter",
  "openinference-instrumentation-openai": "openinference",
  "opentelemetry-instrumentation-openai": "opentelemetry.instrumentation",
  "opentelemetry-sdk": "opentelemetry.sdk",
}

/** Our own modules through which tests of npm clients import a client; patterns of a regular expression. */
const helpers: Readonly<Record<string, string>> = { openai: "\\./client.ts" }

/** Tests that import the client, or have its name in theirs: some run blocks of guides and import nothing. */
function using(client: string, files: readonly string[]): string[] {
  const module = modules[client] ?? client.replaceAll("-", "_")
  const imports = new RegExp(
    `^\\s*(?:from|import) (?:${module})\\b|from "(?:${client}|${helpers[client] ?? client})["/]`,
    "m",
  )
  const own = new RegExp(`test_${module}_`)
  return files.filter((file) => own.test(file) || imports.test(readFileSync(path.join(compat, file), "utf8")))
}

/** The set of npm clients. The other dependencies of `compat/node/package.json` are tools of its tests. */
export function npmSet(): ClientSet {
  const { dependencies, clients, pinned } = readJson("node/package.json") as {
    dependencies: Record<string, string>
    clients: string[]
    pinned: string
  }
  const files = suitesIn("node").map(({ file }) => file)
  const described = clients.map((name) => ({
    name,
    version: dependencies[name] ?? "not among the dependencies",
    files: using(name, files),
  }))
  return { name: "node-clients", clients: described, pinned, files }
}

/** Files that test no client: `requirements.test.ts` judges the suites themselves. */
const ofNoClient: ReadonlySet<string> = new Set(["requirements.test.ts"])

export function suitesIn(folder: "python" | "node"): Suite[] {
  const isTest = folder === "python" ? /^test_\w+\.py$/ : /^[\w-]+\.test\.ts$/
  const names = readdirSync(path.join(compat, folder)).filter((name) => isTest.test(name) && !ofNoClient.has(name))
  return names.toSorted().map((name) => {
    const text = readFileSync(path.join(compat, folder, name), "utf8")
    const about = /^(?:"""|\/\*\* ?)(.+?)(?:"""| ?\*\/|\n)/.exec(text)?.[1] ?? ""
    const calls = [...text.matchAll(/\bcovers\(([^)]*)\)/g)].map(([, ids = ""]) => ids)
    const covers = calls.flatMap((ids) => [...ids.matchAll(/"([^"]+)"/g)].map(([, id = ""]) => id))
    return { file: `${folder}/${name}`, about, covers: [...new Set(covers)].toSorted() }
  })
}

function normal(name: string): string {
  return name.toLowerCase().replaceAll(/[._-]+/g, "-")
}

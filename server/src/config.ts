/** Settings of one server process. Read from the command line and the environment by `main.ts` only. */
import path from "node:path"
import { parseArgs } from "node:util"

export interface Config {
  host: string
  /** 0 takes any free port. */
  port: number
  dataDir: string
  /** Path under which a proxy shows the server, such as `/heddle`; null: none. */
  prefix: string | null
  /** When set, a bootstrap admin with this API key exists. */
  adminKey: string | null
  /** The bootstrap admin's default entity. */
  entity: string
  /** null: the embedded catalog (PGlite) in the data folder. */
  postgresUrl: string | null
  /** An empty embedded catalog, made at set-up, that a new data folder gets a copy of; null: none. */
  catalogTemplate: string | null
  /** null: the embedded trace store (chDB) in the data folder. */
  clickhouseUrl: string | null
  /** The operator's list of token prices, over the one that is shipped; null: none. */
  pricesFile: string | null
  /** Keys of model providers outside; null: none. */
  secretsFile: string | null
  /** `process`: start and supervise the Python engine; `none`: chat and jobs answer 503. */
  engine: "process" | "none"
  /** Python interpreter of the engine's virtual environment. */
  python: string
  logLevel: string
  /** Largest body of a training job, in bytes. */
  maximumBodyBytes: number
  /** Host names and address ranges that `training_data_url` and custom providers may reach although they are not public. */
  fetchAllow: string[]
}

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"]

const repositoryRoot = path.resolve(import.meta.dirname, "../..")

/** @throws {Error} with a sentence for the operator when a value cannot be used. */
export function readConfig(argv: string[], env: NodeJS.ProcessEnv): Config {
  const { values } = parseArgs({
    args: argv,
    options: { host: { type: "string" }, port: { type: "string" }, "data-dir": { type: "string" } },
  })
  return {
    // An empty variable is one that is not set. An empty host would listen on every network.
    host: values.host || env["HEDDLE_HOST"] || "127.0.0.1",
    port: parsePort(values.port ?? (env["HEDDLE_PORT"] || "8080")),
    dataDir: path.resolve(values["data-dir"] || env["HEDDLE_DATA_DIR"] || "./data"),
    prefix: parsePrefix(env["HEDDLE_PREFIX"]),
    adminKey: env["HEDDLE_ADMIN_KEY"] || null,
    entity: env["HEDDLE_ENTITY"] || "local",
    postgresUrl: parsePostgresUrl(env["HEDDLE_POSTGRES_URL"]),
    catalogTemplate: env["HEDDLE_CATALOG_TEMPLATE"] || null,
    clickhouseUrl: env["HEDDLE_CLICKHOUSE_URL"] || null,
    pricesFile: env["HEDDLE_PRICES"] || null,
    secretsFile: env["HEDDLE_SECRETS"] || null,
    engine: parseEngine(env["HEDDLE_ENGINE"]),
    python: env["HEDDLE_PYTHON"] || path.join(repositoryRoot, "engine/.venv/bin/python"),
    logLevel: parseLogLevel(env["HEDDLE_LOG"]),
    maximumBodyBytes: parseBytes(env["HEDDLE_MAX_BODY_BYTES"]),
    fetchAllow: (env["HEDDLE_FETCH_ALLOW"] ?? "").split(",").flatMap((entry) => entry.trim() || []),
  }
}

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Infinity
  if (port > 65535) {
    throw new Error(`port must be a whole number from 0 to 65535, not "${text}"`)
  }
  return port
}

/** The URL holds a password, so a message never repeats it. */
function parsePostgresUrl(text: string | undefined): string | null {
  if (text === undefined || text === "") return null
  // Without a host, which a parameter may name, pg gives it one to be read.
  const readable = URL.canParse(text.replace("@/", "@host/"))
  if (/^postgres(ql)?:\/\//.test(text) && readable) return text
  throw new Error(
    "HEDDLE_POSTGRES_URL is not a URL such as postgresql://user:password@host:5432/database; " +
      "in a password, / is written %2F, @ %40 and # %23",
  )
}

function parseLogLevel(text: string | undefined): string {
  const level = text || "info"
  if (!logLevels.includes(level)) throw new Error(`HEDDLE_LOG must be one of ${logLevels.join(", ")}, not "${text}"`)
  return level
}

function parsePrefix(text: string | undefined): string | null {
  const prefix = (text ?? "").replace(/\/+$/, "")
  if (prefix === "") return null
  if (!/^(\/[A-Za-z0-9._~-]+)+$/.test(prefix)) {
    throw new Error(`HEDDLE_PREFIX must be a path such as /heddle, not "${text}"`)
  }
  return prefix
}

function parseBytes(text: string | undefined): number {
  if (text === undefined || text === "") return 1024 ** 3
  const bytes = Number(text)
  if (!Number.isSafeInteger(bytes) || bytes < 1) {
    throw new Error(`HEDDLE_MAX_BODY_BYTES must be a whole number of bytes, not "${text}"`)
  }
  return bytes
}

function parseEngine(text: string | undefined): Config["engine"] {
  if (text === undefined || text === "" || text === "process") return "process"
  if (text === "none") return "none"
  throw new Error(`HEDDLE_ENGINE must be "process" or "none", not "${text}"`)
}

/** Settings of one server process. Read from the command line and the environment by `main.ts` and `move-stores.ts` only. */
import { existsSync } from "node:fs"
import { isIP } from "node:net"
import path from "node:path"
import { parseArgs } from "node:util"
import { engineEnvironment } from "./engine-environment.ts"
import type { RemoteEngineSettings } from "./engines/pool/open-engine-pool.ts"
import { parseEngineAddresses } from "./engines/remote/engine-address.ts"
import { type Limits, readLimits } from "./limits.ts"
import { refuseMisspelled } from "./setting-names.ts"

export interface Config {
  host: string
  /** 0 takes any free port. */
  port: number
  dataDir: string
  /** Where backups of the running server lie. */
  backupDir: string
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
  /** `process`: start and supervise the Python engine; `none`: chat and jobs answer 503; else those on other machines. */
  engine: "process" | "none" | RemoteEngineSettings
  /** Python interpreter of the engine's virtual environment. */
  python: string
  /** Variables that the engine is started with; those of this server are not among them. */
  engineEnvironment: Readonly<Record<string, string>>
  engineMemory: EngineMemory
  sampler: Sampler
  /** Processes that share out the work of each training step. */
  engineTrainers: number
  /** Number format of weights, keys and values; `auto`: as each checkpoint and the processor ask for. */
  engineDtype: EngineDtype
  logLevel: string
  /** Whether requests are logged at level `info`; else at `debug`. */
  logsRequests: boolean
  /** `GET /metrics` answers everybody who reaches the server, not only administrators. */
  metricsAreOpen: boolean
  /** Largest body of a training job, in bytes. */
  maximumBodyBytes: number
  /** Host names and address ranges that `training_data_url` and custom providers may reach although they are not public. */
  fetchAllow: string[]
  /** Base models that members may train beside those that are shipped: hub names, folders, `*` for all. */
  baseModels: string[]
  /** Addresses and ranges of proxies whose X-Forwarded headers are believed; empty: nobody's. */
  trustedProxies: string[]
  /** The built web interface. */
  pagesDir: string
  limits: Limits
}

/** Memory limits of the engine per base model; null: chosen from the machine and the model. */
export interface EngineMemory {
  /** Keys and values of sequences in progress. */
  kv_bytes: number | null
  /** Keys and values of prompts that the next request may begin with. */
  cache_bytes: number | null
  /** Adapters that the next request may name. */
  adapter_bytes: number | null
  /** Seconds after which a base model that nobody uses gives its memory back; null: never. */
  unload_idle_s: number | null
}

/** What samples, by the names of the engine's options; the engine itself where vLLM's fields are null. */
export interface Sampler {
  sampler: "heddle" | "vllm"
  /** The Python of the environment that has vLLM. */
  vllm_python: string | null
  /** Largest rank of adapters that vLLM serves; null: the engine's default. */
  vllm_lora_rank: number | null
}

export type EngineDtype = (typeof engineDtypes)[number]

const engineDtypes = ["auto", "fp32", "bf16"] as const

/** What an engine is started with, here by variables. */
const ownEngineOptions = [
  ["HEDDLE_ENGINE_DTYPE", "--dtype"],
  ["HEDDLE_ENGINE_KV_BYTES", "--kv-bytes"],
  ["HEDDLE_ENGINE_CACHE_BYTES", "--cache-bytes"],
  ["HEDDLE_ENGINE_ADAPTER_BYTES", "--adapter-bytes"],
  ["HEDDLE_ENGINE_UNLOAD_IDLE_S", "--unload-idle-s"],
  ["HEDDLE_LIMIT_CHAT_TEMPLATE_MS", "--chat-template-ms"],
  ["HEDDLE_LIMIT_GRAMMAR_BYTES", "--grammar-bytes"],
  ["HEDDLE_LIMIT_GRAMMAR_MS", "--grammar-ms"],
] as const

/** Settings that change nothing where another one is not set. */
const ofVllm = ["HEDDLE_VLLM_PYTHON", "HEDDLE_VLLM_LORA_RANK"]
const ofRemoteEngines = ["HEDDLE_ENGINE_TOKEN_FILE", "HEDDLE_ENGINE_CA_FILE", "HEDDLE_ENGINE_FAILOVER_S"]

const logLevels = ["trace", "debug", "info", "warn", "error", "fatal", "silent"]

/** How long an engine on another machine may be away before its jobs begin again on another. */
const defaultFailOverS = 120

const repositoryRoot = path.resolve(import.meta.dirname, "../..")

/** @throws {Error} with a sentence for the operator when a value cannot be used. */
export function readConfig(argv: string[], env: NodeJS.ProcessEnv): Config {
  refuseMisspelled(env)
  const { values } = parseArgs({
    args: argv,
    options: {
      host: { type: "string" },
      port: { type: "string" },
      "data-dir": { type: "string" },
      "backup-dir": { type: "string" },
    },
  })
  const dataDir = path.resolve(values["data-dir"] || env["HEDDLE_DATA_DIR"] || "./data")
  return {
    // An empty variable is one that is not set. An empty host would listen on every network.
    host: values.host || env["HEDDLE_HOST"] || "127.0.0.1",
    port: parsePort(values.port ?? portOf(env)),
    dataDir,
    backupDir: path.resolve(values["backup-dir"] || env["HEDDLE_BACKUP_DIR"] || path.join(dataDir, "backups")),
    prefix: parsePrefix(env["HEDDLE_PREFIX"]),
    adminKey: env["HEDDLE_ADMIN_KEY"] || null,
    entity: env["HEDDLE_ENTITY"] || "local",
    postgresUrl: parsePostgresUrl(env["HEDDLE_POSTGRES_URL"]),
    catalogTemplate: env["HEDDLE_CATALOG_TEMPLATE"] || null,
    clickhouseUrl: env["HEDDLE_CLICKHOUSE_URL"] || null,
    pricesFile: env["HEDDLE_PRICES"] || null,
    secretsFile: env["HEDDLE_SECRETS"] || null,
    engine: parseRemoteEngines(env) ?? parseEngine(env["HEDDLE_ENGINE"]),
    python: env["HEDDLE_PYTHON"] || path.join(repositoryRoot, "engine/.venv/bin/python"),
    engineEnvironment: engineEnvironment(env),
    engineMemory: {
      kv_bytes: parseOptionalCount("HEDDLE_ENGINE_KV_BYTES", env),
      cache_bytes: parseOptionalCount("HEDDLE_ENGINE_CACHE_BYTES", env),
      adapter_bytes: parseOptionalCount("HEDDLE_ENGINE_ADAPTER_BYTES", env),
      unload_idle_s: parseOptionalCount("HEDDLE_ENGINE_UNLOAD_IDLE_S", env),
    },
    sampler: parseSampler(env),
    engineTrainers: parseTrainers(env),
    engineDtype: parseDtype(env["HEDDLE_ENGINE_DTYPE"]),
    logLevel: parseLogLevel(env["HEDDLE_LOG"]),
    logsRequests: parseRequestLog(env["HEDDLE_REQUEST_LOG"]),
    metricsAreOpen: parseMetrics(env["HEDDLE_METRICS"]),
    maximumBodyBytes: parseBytes(env["HEDDLE_MAX_BODY_BYTES"]),
    fetchAllow: entriesOf(env["HEDDLE_FETCH_ALLOW"], ","),
    baseModels: entriesOf(env["HEDDLE_BASE_MODELS"], /[,\n]/),
    trustedProxies: parseProxies(env["HEDDLE_TRUSTED_PROXIES"]),
    pagesDir: path.join(repositoryRoot, "web/dist"),
    limits: readLimits(env),
  }
}

function entriesOf(text: string | undefined, separator: string | RegExp): string[] {
  return (text ?? "").split(separator).flatMap((entry) => entry.trim() || [])
}

/** Kubernetes sets HEDDLE_PORT to something like `tcp://10.0.0.1:8080` beside a service that is called heddle: no setting of anybody. */
function portOf({ HEDDLE_PORT: text = "" }: NodeJS.ProcessEnv): string {
  return text === "" || text.startsWith("tcp://") ? "8080" : text
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

function parseRequestLog(text: string | undefined): boolean {
  if (text === undefined || text === "" || text === "off") return false
  if (text === "on") return true
  throw new Error(`HEDDLE_REQUEST_LOG must be "on" or "off", not "${text}"`)
}

function parseMetrics(text: string | undefined): boolean {
  if (text === undefined || text === "" || text === "admin") return false
  if (text === "open") return true
  throw new Error(`HEDDLE_METRICS must be "admin" or "open", not "${text}"`)
}

function parseProxies(text: string | undefined): string[] {
  const proxies = entriesOf(text, ",")
  for (const proxy of proxies) {
    const [address = "", bits = "0", ...rest] = proxy.split("/")
    const isRange = /^\d{1,3}$/.test(bits) && Number(bits) <= (isIP(address) === 6 ? 128 : 32)
    if (isIP(address) === 0 || !isRange || rest.length > 0) {
      throw new Error(`HEDDLE_TRUSTED_PROXIES must list addresses or ranges such as 10.0.0.0/8, not "${proxy}"`)
    }
  }
  return proxies
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

function parseOptionalCount(name: string, env: NodeJS.ProcessEnv): number | null {
  const text = env[name]
  if (text === undefined || text === "") return null
  const count = Number(text)
  if (!Number.isSafeInteger(count) || count < 0) throw new Error(`${name} must be a whole number, not "${text}"`)
  return count
}

function parseEngine(text: string | undefined): Config["engine"] {
  if (text === undefined || text === "" || text === "process") return "process"
  if (text === "none") return "none"
  throw new Error(`HEDDLE_ENGINE must be "process" or "none", not "${text}"`)
}

/** @throws {Error} for a setting that is only read beside `needed`, which is not set. */
function refuseWithout(env: NodeJS.ProcessEnv, needed: string, names: readonly string[]): void {
  const name = names.find((one) => env[one])
  if (name !== undefined) throw new Error(`${name} does nothing without ${needed}: set both, or leave ${name} out`)
}

/** @throws {Error} where vLLM is to sample and is not there; the engine looks whether that Python has it. */
function parseSampler(env: NodeJS.ProcessEnv): Sampler {
  const name = env["HEDDLE_SAMPLER"] || "heddle"
  if (name === "heddle") {
    refuseWithout(env, "HEDDLE_SAMPLER=vllm", ofVllm)
    return { sampler: name, vllm_python: null, vllm_lora_rank: null }
  }
  if (name !== "vllm") throw new Error(`HEDDLE_SAMPLER must be "heddle" or "vllm", not "${name}"`)
  if (env["HEDDLE_ENGINE_URLS"]) {
    throw new Error("HEDDLE_SAMPLER is for the engine of this machine; one elsewhere is started with --sampler vllm")
  }
  const python = env["HEDDLE_VLLM_PYTHON"] || path.join(repositoryRoot, ".heddle/venvs/vllm/bin/python")
  if (!existsSync(python)) {
    throw new Error(
      `HEDDLE_SAMPLER=vllm needs vLLM, and there is no ${python}. Install it with "npm run install-vllm" for the CPU, ` +
        "or as docs/guide/vllm.md says for a GPU, and name its Python in HEDDLE_VLLM_PYTHON",
    )
  }
  return { sampler: name, vllm_python: python, vllm_lora_rank: parseOptionalCount("HEDDLE_VLLM_LORA_RANK", env) }
}

function parseTrainers(env: NodeJS.ProcessEnv): number {
  const count = parseOptionalCount("HEDDLE_ENGINE_TRAINERS", env) ?? 1
  if (count < 1) throw new Error("HEDDLE_ENGINE_TRAINERS must be at least 1: the engine itself is the first")
  if (count > 1 && env["HEDDLE_ENGINE_URLS"]) {
    throw new Error(
      "HEDDLE_ENGINE_TRAINERS is for the engine of this machine; one elsewhere is started with --trainers N",
    )
  }
  return count
}

function parseDtype(text: string | undefined): EngineDtype {
  const dtype = engineDtypes.find((one) => one === (text || "auto"))
  if (dtype === undefined) {
    throw new Error(`HEDDLE_ENGINE_DTYPE must be one of ${engineDtypes.join(", ")}, not "${text}"`)
  }
  return dtype
}

/** null: none is named. */
function parseRemoteEngines(env: NodeJS.ProcessEnv): RemoteEngineSettings | null {
  const urls = entriesOf(env["HEDDLE_ENGINE_URLS"], /[,\s]/)
  if (urls.length === 0) {
    refuseWithout(env, "HEDDLE_ENGINE_URLS", ofRemoteEngines)
    return null
  }
  const addresses = parseEngineAddresses(urls)
  const engine = env["HEDDLE_ENGINE"]
  if (engine) throw new Error(`HEDDLE_ENGINE_URLS names an engine, and HEDDLE_ENGINE says "${engine}": set one of them`)
  for (const [name, option] of ownEngineOptions) {
    if (env[name]) throw new Error(`${name} is for the engine of this machine; one elsewhere is started with ${option}`)
  }
  const tokenFile = env["HEDDLE_ENGINE_TOKEN_FILE"]
  if (!tokenFile) {
    throw new Error("HEDDLE_ENGINE_URLS needs HEDDLE_ENGINE_TOKEN_FILE: the file with the token of the engine")
  }
  const failOverS = parseOptionalCount("HEDDLE_ENGINE_FAILOVER_S", env) ?? defaultFailOverS
  return { addresses, tokenFile, caFile: env["HEDDLE_ENGINE_CA_FILE"] || null, failOverMs: failOverS * 1000 }
}

import { readFile } from "node:fs/promises"
import path from "node:path"
import { expect, test } from "vitest"
import { readConfig } from "./config.ts"
import { settingNames } from "./setting-names.ts"

test("empty variables and options are as if they were not there", () => {
  const names = ["HEDDLE_HOST", "HEDDLE_PORT", "HEDDLE_DATA_DIR", "HEDDLE_ENTITY", "HEDDLE_LOG", "HEDDLE_ENGINE"]
  const config = readConfig(["--host", "", "--data-dir", ""], Object.fromEntries(names.map((name) => [name, ""])))
  expect(config).toMatchObject({ host: "127.0.0.1", port: 8080, entity: "local", logLevel: "info", engine: "process" })
  expect(config.dataDir).toBe(path.resolve("./data"))
})

test("the address that Kubernetes gives a service called heddle is no port of the server", () => {
  expect(readConfig([], { HEDDLE_PORT: "tcp://10.0.0.1:8080" }).port).toBe(8080)
  expect(() => readConfig(["--port=tcp://10.0.0.1:8080"], {})).toThrow("port must be a whole number from 0 to 65535")
})

test.each(["", "http", "65536", "-1", "8e3", "0x50"])("port %j is refused by name", (port) => {
  expect(() => readConfig([`--port=${port}`], {})).toThrow(`port must be a whole number from 0 to 65535, not "${port}"`)
})

test.each([
  ["HEDDLE_SAMPLER", "llama", 'HEDDLE_SAMPLER must be "heddle" or "vllm", not "llama"'],
  ["HEDDLE_METRICS", "yes", 'HEDDLE_METRICS must be "admin" or "open", not "yes"'],
  ["HEDDLE_REQUEST_LOG", "yes", 'HEDDLE_REQUEST_LOG must be "on" or "off", not "yes"'],
  ["HEDDLE_LOG", "loud", 'HEDDLE_LOG must be one of trace, debug, info, warn, error, fatal, silent, not "loud"'],
  [
    "HEDDLE_POSTGRES_URL",
    "db:secret",
    "HEDDLE_POSTGRES_URL is not a URL such as postgresql://user:password@host:5432/database; " +
      "in a password, / is written %2F, @ %40 and # %23",
  ],
  [
    "HEDDLE_POSTGRES_URL",
    "postgresql://me:sec/ret@db:5432/heddle",
    "HEDDLE_POSTGRES_URL is not a URL such as postgresql://user:password@host:5432/database; " +
      "in a password, / is written %2F, @ %40 and # %23",
  ],
  ["HEDDLE_ENGINE_DTYPE", "float32", 'HEDDLE_ENGINE_DTYPE must be one of auto, fp32, bf16, not "float32"'],
  [
    "HEDDLE_ENGINE_URLS",
    "tls://a:1,tls://b:2,tcp://A:1/",
    'HEDDLE_ENGINE_URLS names an engine twice: "tls://a:1" and "tcp://A:1/"',
  ],
  [
    "HEDDLE_ENGINE_URLS",
    "tls://a:1,https://b:2",
    'HEDDLE_ENGINE_URLS must be an address such as tls://gpu.example:8090 or tcp://127.0.0.1:8090, not "https://b:2"',
  ],
  [
    "HEDDLE_ENGINE_URLS",
    "tls://a:1",
    "HEDDLE_ENGINE_URLS needs HEDDLE_ENGINE_TOKEN_FILE: the file with the token of the engine",
  ],
])("%s = %j is refused by name", (name, value, message) => {
  expect(() => readConfig([], { [name]: value })).toThrow(new Error(message))
})

test("vLLM samples with the Python that is named, and a missing one is an error that says how to install it", () => {
  expect(readConfig([], {}).sampler).toEqual({ sampler: "heddle", vllm_python: null, vllm_lora_rank: null })
  const env = { HEDDLE_SAMPLER: "vllm", HEDDLE_VLLM_PYTHON: process.execPath, HEDDLE_VLLM_LORA_RANK: "32" }
  expect(readConfig([], env).sampler).toEqual({ sampler: "vllm", vllm_python: process.execPath, vllm_lora_rank: 32 })
  expect(() => readConfig([], { ...env, HEDDLE_VLLM_PYTHON: "/nowhere/python" })).toThrow(
    'HEDDLE_SAMPLER=vllm needs vLLM, and there is no /nowhere/python. Install it with "npm run install-vllm" for the CPU',
  )
  const elsewhere = { HEDDLE_ENGINE_URLS: "tcp://127.0.0.1:1", HEDDLE_ENGINE_TOKEN_FILE: "token" }
  expect(() => readConfig([], { ...env, ...elsewhere })).toThrow("HEDDLE_SAMPLER is for the engine of this machine")
})

test.each([
  ["HEDDLE_VLLM_PYTHON", "/venv/bin/python", "HEDDLE_SAMPLER=vllm"],
  ["HEDDLE_VLLM_LORA_RANK", "32", "HEDDLE_SAMPLER=vllm"],
  ["HEDDLE_ENGINE_TOKEN_FILE", "token", "HEDDLE_ENGINE_URLS"],
  ["HEDDLE_ENGINE_CA_FILE", "engine.crt", "HEDDLE_ENGINE_URLS"],
  ["HEDDLE_ENGINE_FAILOVER_S", "60", "HEDDLE_ENGINE_URLS"],
])("%s is refused where nothing reads it, with the setting that it needs", (name, value, needed) => {
  const message = `${name} does nothing without ${needed}: set both, or leave ${name} out`
  expect(() => readConfig([], { [name]: value })).toThrow(new Error(message))
  expect(readConfig([], { [name]: "" }).engine).toBe("process")
})

test("the engine's number format is its own choice unless it is set", () => {
  expect(readConfig([], {}).engineDtype).toBe("auto")
  expect(readConfig([], { HEDDLE_ENGINE_DTYPE: "bf16" }).engineDtype).toBe("bf16")
})

test("the engine trains in one process unless more are asked for, which is for an engine of this machine", () => {
  expect(readConfig([], {}).engineTrainers).toBe(1)
  expect(readConfig([], { HEDDLE_ENGINE_TRAINERS: "4" }).engineTrainers).toBe(4)
  expect(() => readConfig([], { HEDDLE_ENGINE_TRAINERS: "0" })).toThrow("HEDDLE_ENGINE_TRAINERS must be at least 1")
  expect(() => readConfig([], { HEDDLE_ENGINE_TRAINERS: "two" })).toThrow(
    "HEDDLE_ENGINE_TRAINERS must be a whole number",
  )
  const elsewhere = { HEDDLE_ENGINE_URLS: "tcp://127.0.0.1:1", HEDDLE_ENGINE_TOKEN_FILE: "token" }
  expect(() => readConfig([], { HEDDLE_ENGINE_TRAINERS: "2", ...elsewhere })).toThrow(
    "HEDDLE_ENGINE_TRAINERS is for the engine of this machine; one elsewhere is started with --trainers N",
  )
})

test.each([
  ["HEDDLE_ENGINE_DTYPE", "bf16", "--dtype"],
  ["HEDDLE_ENGINE_KV_BYTES", "1", "--kv-bytes"],
  ["HEDDLE_ENGINE_CACHE_BYTES", "0", "--cache-bytes"],
  ["HEDDLE_ENGINE_ADAPTER_BYTES", "1", "--adapter-bytes"],
  ["HEDDLE_ENGINE_UNLOAD_IDLE_S", "1", "--unload-idle-s"],
  ["HEDDLE_LIMIT_CHAT_TEMPLATE_MS", "1", "--chat-template-ms"],
  ["HEDDLE_LIMIT_GRAMMAR_BYTES", "1", "--grammar-bytes"],
  ["HEDDLE_LIMIT_GRAMMAR_MS", "1", "--grammar-ms"],
])("%s is refused beside engines on other machines, which it would not change", (name, value, option) => {
  const elsewhere = { HEDDLE_ENGINE_URLS: "tcp://127.0.0.1:1", HEDDLE_ENGINE_TOKEN_FILE: "token" }
  const message = `${name} is for the engine of this machine; one elsewhere is started with ${option}`
  expect(() => readConfig([], { ...elsewhere, [name]: value })).toThrow(new Error(message))
  expect(readConfig([], { ...elsewhere, [name]: "" }).engine).toMatchObject({ tokenFile: "token" })
})

test.each([
  ["HEDDLE_ENGINE_URL", "HEDDLE_ENGINE_URLS"],
  ["HEDDLE_ENIGNE", "HEDDLE_ENGINE"],
  ["HEDDLE_POSTGRESS_URL", "HEDDLE_POSTGRES_URL"],
  ["HEDDLE_HOSTS", "HEDDLE_HOST"],
])("%s is refused, and the setting named that was meant", (name, meant) => {
  expect(() => readConfig([], { [name]: "1" })).toThrow(
    new Error(`there is no setting called ${name}: did you mean ${meant}?`),
  )
  expect(readConfig([], { [name]: "" }).port).toBe(8080)
})

test.each([
  "HEDDLE_URL",
  "HEDDLE_KEY",
  "HEDDLE_API_KEY",
  "HEDDLE_HOME",
  "HEDDLE_TEST_IMAGE",
  "HEDDLE_PORT_8080_TCP",
  "HEDDLE_SERVICE_HOST",
  "HEDDLE_ENGINE_PORT",
  "HEDDLE_POSTGRES_PORT",
])("%s is a name of somebody else", (name) => {
  expect(readConfig([], { [name]: "1" }).port).toBe(8080)
})

test("misspelled names are looked for among all that settings are read by", async () => {
  const text = await readFile(path.join(import.meta.dirname, "config.ts"), "utf8")
  const read = [...text.matchAll(/HEDDLE_(?!LIMIT_)([A-Z_]+)/g)].map(([, name]) => name)
  expect(new Set(settingNames)).toEqual(new Set(read))
})

test("the engine's memory is its own choice unless it is set", () => {
  expect(readConfig([], {}).engineMemory).toEqual({
    kv_bytes: null,
    cache_bytes: null,
    adapter_bytes: null,
    unload_idle_s: null,
  })
  const env = {
    HEDDLE_ENGINE_KV_BYTES: "1000000",
    HEDDLE_ENGINE_CACHE_BYTES: "0",
    HEDDLE_ENGINE_ADAPTER_BYTES: "7",
    HEDDLE_ENGINE_UNLOAD_IDLE_S: "600",
  }
  expect(readConfig([], env).engineMemory).toEqual({
    kv_bytes: 1_000_000,
    cache_bytes: 0,
    adapter_bytes: 7,
    unload_idle_s: 600,
  })
  expect(() => readConfig([], { HEDDLE_ENGINE_KV_BYTES: "2GB" })).toThrow(
    'HEDDLE_ENGINE_KV_BYTES must be a whole number, not "2GB"',
  )
})

test.each(["postgres://h/d", "postgresql:///d?host=/run/postgresql", "postgresql://me:x@/d?host=/run/postgresql"])(
  "%s is an address of PostgreSQL",
  (url) => {
    expect(readConfig([], { HEDDLE_POSTGRES_URL: url }).postgresUrl).toBe(url)
  },
)

test("HEDDLE_BASE_MODELS is a list with commas or on lines of their own", () => {
  const list = "Qwen/Qwen3-0.6B, /models/ours,\n/models/with space\n\n"
  expect(readConfig([], { HEDDLE_BASE_MODELS: list }).baseModels).toEqual([
    "Qwen/Qwen3-0.6B",
    "/models/ours",
    "/models/with space",
  ])
  expect(readConfig([], {}).baseModels).toEqual([])
})

test("law 9: an engine on another machine is named by its address, and its token by a file", () => {
  const env = { HEDDLE_ENGINE_URLS: " tls://gpu.example:8090 ", HEDDLE_ENGINE_TOKEN_FILE: "token" }
  const address = { url: "tls://gpu.example:8090", host: "gpu.example", port: 8090, isTls: true }
  const shared = { tokenFile: "token", caFile: null, failOverMs: 120_000 }
  expect(readConfig([], env).engine).toEqual({ addresses: [address], ...shared })
  const others = { HEDDLE_ENGINE_URLS: "tls://gpu.example:8090, tls://gpu.example:8091", HEDDLE_ENGINE_FAILOVER_S: "5" }
  const second = { ...address, url: "tls://gpu.example:8091", port: 8091 }
  expect(readConfig([], { ...env, ...others }).engine).toEqual({
    addresses: [address, second],
    ...shared,
    failOverMs: 5_000,
  })
  const plain = readConfig([], { ...env, HEDDLE_ENGINE_URLS: "tcp://[::1]:1", HEDDLE_ENGINE_CA_FILE: "ca" }).engine
  expect(plain).toMatchObject({ addresses: [{ host: "::1", port: 1, isTls: false }], caFile: "ca" })
  expect(() => readConfig([], { ...env, HEDDLE_ENGINE: "none" })).toThrow("set one of them")
})

test.each([
  "gpu:8090",
  "http://gpu:8090",
  "tls://gpu",
  "tls://me:pw@gpu:1",
  "tcp://gpu:1/path",
  "unix:/x",
  "tls://gpu:1?a",
])("HEDDLE_ENGINE_URLS = %j is refused", (url) => {
  const env = { HEDDLE_ENGINE_URLS: url, HEDDLE_ENGINE_TOKEN_FILE: "token" }
  expect(() => readConfig([], env)).toThrow("must be an address such as tls://gpu.example:8090")
})

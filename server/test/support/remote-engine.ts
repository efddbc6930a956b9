/** An engine that is started by itself, as on another machine, reached over TLS through a network that can be cut. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { createInterface } from "node:readline"
import type { Config } from "../../src/config.ts"
import { parseEngineAddresses } from "../../src/engines/remote/engine-address.ts"
import { freePort } from "./free-port.ts"
import { TcpProxy } from "./tcp-proxy.ts"

export const python =
  process.env["HEDDLE_PYTHON"] ?? path.resolve(import.meta.dirname, "../../../engine/.venv/bin/python")
const engineFolder = path.resolve(import.meta.dirname, "../../../engine")
const fixtures = path.resolve(import.meta.dirname, "../fixtures")
const usualToken = "token_of_the_tests_0123456789_0123456789"

type Changes = Partial<Omit<Exclude<Config["engine"], string>, "addresses">>

interface Options {
  isTls?: boolean
  token?: string
  arguments?: string[]
}

export class RemoteEngineProcess {
  readonly folder: string
  readonly network: TcpProxy
  readonly #command: string[]
  readonly #log: string[] = []
  #process: ChildProcess | null = null

  private constructor(folder: string, network: TcpProxy, command: string[]) {
    this.folder = folder
    this.network = network
    this.#command = command
  }

  static async open({
    isTls = true,
    token = usualToken,
    arguments: others = [],
  }: Options = {}): Promise<RemoteEngineProcess> {
    const folder = await mkdtemp(path.join(tmpdir(), "heddle-remote-"))
    await writeFile(path.join(folder, "token"), `${token}\n`)
    await writeFile(path.join(folder, "wrong-token"), "another_token_0123456789_0123456789_0123\n")
    const port = await freePort()
    const network = await TcpProxy.open(`${isTls ? "tls" : "tcp"}://127.0.0.1:${port}`)
    const tls = ["--tls-cert", path.join(fixtures, "localhost.crt"), "--tls-key", path.join(fixtures, "localhost.key")]
    const own = ["--token-file", path.join(folder, "token"), "--data-dir", path.join(folder, "data")]
    const command = ["-m", "heddle_engine", "--listen", `tcp://127.0.0.1:${port}`, ...own, ...others]
    const engine = new RemoteEngineProcess(folder, network, isTls ? [...command, ...tls] : command)
    await engine.start()
    return engine
  }

  /** What a server is set to that uses this engine, and `others` beside it. */
  settings(changes: Changes = {}, others: RemoteEngineProcess[] = []): Exclude<Config["engine"], string> {
    return {
      addresses: parseEngineAddresses([this.network.url, ...others.map(({ network }) => network.url)]),
      tokenFile: path.join(this.folder, "token"),
      caFile: path.join(fixtures, "localhost.crt"),
      failOverMs: 120_000,
      ...changes,
    }
  }

  /** The same as environment of a server's process. */
  environment(changes: Changes = {}, others: RemoteEngineProcess[] = []): NodeJS.ProcessEnv {
    const { addresses, tokenFile, caFile } = this.settings(changes, others)
    return {
      HEDDLE_ENGINE_URLS: addresses.map(({ url }) => url).join(),
      HEDDLE_ENGINE_TOKEN_FILE: tokenFile,
      ...(caFile !== null && { HEDDLE_ENGINE_CA_FILE: caFile }),
    }
  }

  /** What it has printed. */
  get log(): string {
    return this.#log.join("\n")
  }

  async start(): Promise<void> {
    const child = spawn(python, this.#command, { cwd: engineFolder, stdio: ["ignore", "ignore", "pipe"] })
    this.#process = child
    await new Promise<void>((resolve, reject) => {
      createInterface({ input: child.stderr }).on("line", (line) => {
        this.#log.push(line)
        if (line.startsWith("listening on")) resolve()
      })
      child.once("exit", () => reject(new Error(this.log)))
    })
  }

  async end(signal: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<void> {
    const child = this.#process
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    child.kill(signal)
    await once(child, "exit")
  }

  async forgetEverything(): Promise<void> {
    await rm(path.join(this.folder, "data"), { recursive: true })
  }

  async close(): Promise<void> {
    await this.end()
    await this.network.close()
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** Containers of one image, run by podman or docker; all that a test starts goes when it ends. */
import { execFile } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"

const execute = promisify(execFile)

/** The program that runs containers: `HEDDLE_CONTAINER_TOOL`, such as docker. */
const program = process.env["HEDDLE_CONTAINER_TOOL"] || "podman"
/** The port on which the server listens inside. */
const port = 8080

export async function run(...args: string[]): Promise<string> {
  const { stdout } = await execute(program, args, { maxBuffer: 64 * 1024 ** 2 })
  return stdout.trim()
}

export class Container {
  readonly name: string
  /** Of the server, from outside. */
  readonly url: string

  private constructor(name: string, url: string) {
    this.name = name
    this.url = url
  }

  /** Starts the image and waits until its server answers. `options` are those of `run`. */
  static async start(image: string, options: readonly string[]): Promise<Container> {
    const name = await run("run", "--detach", "--publish", `127.0.0.1::${port}`, ...options, image)
    const address = (await run("port", name, `${port}/tcp`)).split("\n")[0] ?? ""
    const container = new Container(name, `http://${address}`)
    try {
      await container.#answers()
      return container
    } catch (error) {
      await container.remove()
      throw error
    }
  }

  async #answers(): Promise<void> {
    for (let tries = 0; tries < 240; tries++) {
      const answer = await fetch(`${this.url}/health`).catch(() => null)
      if (answer?.ok) return
      if ((await this.inspect("{{.State.Status}}")) === "exited") break
      await sleep(500)
    }
    throw new Error(`the server in the container does not answer:\n${await this.log()}`)
  }

  inspect(format: string): Promise<string> {
    return run("inspect", "--format", format, this.name)
  }

  /** What the server printed. */
  async log(): Promise<string> {
    const { stdout, stderr } = await execute(program, ["logs", this.name])
    return `${stdout}${stderr}`
  }

  /** Asks the server to end, and returns the status with which it did. */
  async stop(): Promise<number> {
    await run("stop", "--time", "60", this.name)
    return Number(await this.inspect("{{.State.ExitCode}}"))
  }

  async remove(): Promise<void> {
    await run("rm", "--force", this.name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.remove()
  }
}

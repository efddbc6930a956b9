/** A network between a server and a store, to be cut: refused, reset, silent, or cut at a word of the client's. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"

type State = "open" | "refused" | "silent"

export class TcpProxy {
  readonly url: string
  readonly #server: Server
  readonly #port: number
  readonly #links = new Set<{ near: Socket; far: Socket }>()
  /** Taken, and never answered. */
  readonly #unheard = new Set<Socket>()
  #state: State = "open"
  #cutAt: string | null = null
  /** Connections that clients asked for, the refused ones included. */
  asked = 0

  private constructor(server: Server, target: URL) {
    this.#server = server
    this.#port = (server.address() as AddressInfo).port
    const near = new URL(target)
    near.hostname = "127.0.0.1"
    near.port = `${this.#port}`
    this.url = near.href
    server.on("connection", (socket) => this.#link(socket, target))
  }

  /** In front of the store at `target`; its `url` is the same but for host and port. */
  static async open(target: string): Promise<TcpProxy> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return new TcpProxy(server, new URL(target))
  }

  /** Every connection breaks, and new ones are reset. */
  cut(): void {
    this.#state = "refused"
    this.#reset()
  }

  /** What is sent goes nowhere, and nothing is answered. */
  silence(): void {
    this.#state = "silent"
    for (const { near, far } of this.#links) {
      near.unpipe(far)
      far.unpipe(near)
    }
  }

  /** The next time a client says `word` it arrives, and the connection breaks instead of the answer; then `cut`. */
  cutAfter(word: string): void {
    this.#cutAt = word
  }

  mend(): void {
    if (this.#state === "silent") this.#reset()
    this.#state = "open"
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#reset()
    await closed
  }

  #link(near: Socket, target: URL): void {
    this.asked += 1
    near.on("error", () => undefined)
    if (this.#state === "refused") return void near.resetAndDestroy()
    if (this.#state === "silent") return void this.#unheard.add(near)
    const far = connect(Number(target.port), target.hostname)
    far.on("error", () => near.destroy())
    const link = { near, far }
    this.#links.add(link)
    near.once("close", () => {
      this.#links.delete(link)
      far.destroy()
    })
    far.once("close", () => near.destroy())
    near.on("data", (said: Buffer) => this.#listen(said, link))
    near.pipe(far)
    far.pipe(near)
  }

  #listen(said: Buffer, { near, far }: { near: Socket; far: Socket }): void {
    if (this.#cutAt === null || !said.includes(this.#cutAt)) return
    this.#cutAt = null
    far.unpipe(near)
    far.once("data", () => {
      near.resetAndDestroy()
      this.cut()
    })
    far.resume()
  }

  #reset(): void {
    for (const { near, far } of this.#links) {
      near.resetAndDestroy()
      far.destroy()
    }
    for (const near of this.#unheard) near.resetAndDestroy()
    this.#links.clear()
    this.#unheard.clear()
  }
}

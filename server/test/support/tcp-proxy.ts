/** A network between a server and a store that can be cut: refused, reset, silent, or cut at a word of the client's. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net"

type State = "open" | "refused" | "silent"

export class TcpProxy {
  readonly url: string
  readonly #server: Server
  readonly #port: number
  readonly #links = new Set<{ near: Socket; far: Socket }>()
  /** Connections that were accepted and are never answered. */
  readonly #unheard = new Set<Socket>()
  #state: State = "open"
  #cutAt: string | null = null
  /** Number of connections that clients opened, refused ones included. */
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

  /** Opens a proxy in front of the store at `target`; its `url` differs only by host and port. */
  static async open(target: string): Promise<TcpProxy> {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return new TcpProxy(server, new URL(target))
  }

  /** Breaks every connection, and resets new ones. */
  cut(): void {
    this.#state = "refused"
    this.#reset()
  }

  /** Passes nothing on and answers nothing. */
  silence(): void {
    this.#state = "silent"
    for (const { near, far } of this.#links) {
      near.unpipe(far)
      far.unpipe(near)
    }
  }

  /** Passes the client's next `word` on, breaks the connection before the answer, and then does as `cut`. */
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

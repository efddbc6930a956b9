/** Posts bytes over connections that stay open, the same for every server under test. */
import http from "node:http"

/** An answer other than 200. */
export class Refused extends Error {
  readonly status: number

  constructor(url: string, status: number, text: string) {
    super(`POST ${url} answered ${status}: ${text.slice(0, 500)}`)
    this.status = status
  }
}

export class Poster {
  readonly #agent: http.Agent

  constructor(connections: number) {
    this.#agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  }

  /** @throws {Refused} */
  post(url: string, bytes: Buffer, headers: Record<string, string>): Promise<void> {
    return new Promise((resolve, reject) => {
      const call = http.request(url, {
        method: "POST",
        agent: this.#agent,
        headers: { ...headers, "content-length": bytes.length },
      })
      call.on("error", reject)
      call.on("response", (response) => {
        const chunks: Buffer[] = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("error", reject)
        response.on("end", () => {
          if (response.statusCode === 200) return resolve()
          reject(new Refused(url, response.statusCode ?? 0, Buffer.concat(chunks).toString()))
        })
      })
      call.end(bytes)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

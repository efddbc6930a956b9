/** Posts bytes over connections that stay open, the same for every server under test. */
import http from "node:http"
import { exchange } from "./http.ts"

/** The error of a request that was answered with another status than 200. */
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

  /** Posts `bytes` and returns the answer's text. @throws {Refused} */
  async post(url: string, bytes: Buffer, headers: Record<string, string>): Promise<string> {
    const sized = { ...headers, "content-length": bytes.length }
    const { status, body } = await exchange(this.#agent, "POST", url, sized, bytes)
    if (status !== 200) throw new Refused(url, status, body)
    return body
  }

  close(): void {
    this.#agent.destroy()
  }
}

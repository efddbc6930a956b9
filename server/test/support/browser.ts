/**
 * A browser as the server sees it: it keeps the cookie, sends it with every request, and names the page of a request.
 */
import type { TestApp } from "./test-app.ts"

export interface BrowserAnswer {
  status: number
  body: unknown
  /** The header as the server sent it; undefined when it sent none. */
  setCookie: string | undefined
}

type Method = "GET" | "POST" | "PUT" | "DELETE"

/** Headers that a script of the server's own page sends with the cookie. */
export const ownPage = { "x-heddle-csrf": "1", "sec-fetch-site": "same-origin" }

export class TestBrowser {
  readonly #opened: TestApp
  cookie = ""

  constructor(opened: TestApp) {
    this.#opened = opened
  }

  async send(
    method: Method,
    url: string,
    { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
  ): Promise<BrowserAnswer> {
    const answer = await this.#opened.app.server.inject({
      method,
      url,
      headers: {
        host: "heddle.test:8080",
        "user-agent": "Test Browser",
        ...(this.cookie === "" ? {} : { cookie: this.cookie }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    })
    const setCookie = answer.headers["set-cookie"] as string | undefined
    if (setCookie !== undefined) this.cookie = setCookie.split(";", 1)[0] ?? ""
    return { status: answer.statusCode, body: answer.payload === "" ? null : answer.json(), setCookie }
  }

  /** Sends a request as a script of the server's own page does. */
  page(method: Method, url: string, body?: unknown): Promise<BrowserAnswer> {
    return this.send(method, url, { body, headers: ownPage })
  }

  async signIn(key: string): Promise<BrowserAnswer> {
    return this.page("POST", "/v1/session", { api_key: key })
  }
}

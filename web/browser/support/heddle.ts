/** Starts a real server with the built pages, and signs a browser in to it. */
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { adminKey } from "../../../server/test/support/admin-key.ts"
import { type RunningServer, startServer } from "../../../server/test/support/server-process.ts"
import { newVisit, type Visit } from "./browser.ts"

export interface Heddle extends RunningServer {
  key: string
  close: () => Promise<void>
  /** Sends a request with the administrator's key; returns the answer's JSON. @throws when it is refused. */
  send: <Answer>(method: "GET" | "POST" | "PUT" | "DELETE", path: string, body?: object) => Promise<Answer>
}

/** Starts the server, with the real engine unless `env` says otherwise. */
export async function startHeddle(env: NodeJS.ProcessEnv = {}): Promise<Heddle> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "heddle-browser-"))
  const server = await startServer(dataDir, { HEDDLE_LOG: "fatal", ...env })
  return {
    ...server,
    key: adminKey,
    close: async () => {
      server.process.kill("SIGTERM")
      await once(server.process, "exit")
      await rm(dataDir, { recursive: true, force: true })
    },
    send: async (method, url, body) => {
      const answer = await fetch(server.url + url, {
        method,
        headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${text}`)
      return (text === "" ? null : JSON.parse(text)) as never
    },
  }
}

/** Signs in with the key, as a person does, on any page that asks for it. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key)
  await page.getByRole("button", { name: "Sign in" }).click()
}

/**
 * Opens `url`, or nothing yet, in a context with a session of its own. Tests of signing in itself are in sign-in.test.ts.
 */
export async function signedIn(
  browser: Browser,
  heddle: Heddle,
  url: string | null,
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const visit = await newVisit(browser, options)
  const answer = await visit.page.context().request.post(`${heddle.url}/v1/session`, {
    data: { api_key: heddle.key },
    headers: { origin: heddle.url, "x-heddle-csrf": "1" },
  })
  if (!answer.ok()) throw new Error(`POST /v1/session: ${answer.status()} ${await answer.text()}`)
  if (url !== null) await visit.page.goto(heddle.url + url)
  return visit
}

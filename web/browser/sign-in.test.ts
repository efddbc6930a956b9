/**
 * Signing in as a person does: with a key, by the link that the first start prints, and again after a session has
 * ended.
 */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { launchServer } from "../../server/test/support/server-process.ts"
import { launchBrowser, newVisit, type Visit } from "./support/browser.ts"
import { type Heddle, signedIn, signIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle({ HEDDLE_ENGINE: "none" }), launchBrowser()])
  await heddle.send("POST", "/v1/projects", { entity: "local", name: "demo" })
})
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const url = () => heddle.url

interface SessionList {
  data: { id: string; is_current: boolean }[]
}

/** Ends the page's session from elsewhere, as an administrator would. */
async function endSessions(): Promise<void> {
  const { data } = await heddle.send<SessionList>("GET", "/v1/sessions")
  for (const { id } of data) await heddle.send("DELETE", `/v1/sessions/${id}`)
}

/** Complaints without those about 401 and 403, expected answers which the browser reports by itself. */
const withoutRefusals = ({ complaints }: Visit) => complaints.filter((text) => !/status of 40[13]/.test(text))

describe("with a key", () => {
  test("whoever opens a page is asked for a key, and lands where they wanted to", async () => {
    const visit = await newVisit(browser)
    await visit.page.goto(`${url()}/local/demo?since=7d`)
    await visit.page.getByRole("heading", { name: "Sign in to Heddle" }).waitFor()
    await signIn(visit.page, heddle.key)
    await visit.page.waitForURL(`${url()}/local/demo?since=7d`)
    await visit.page.getByRole("navigation", { name: "Main" }).getByText("local / demo").waitFor()
    expect(await visit.page.context().cookies()).toMatchObject([{ httpOnly: true, sameSite: "Strict" }])
    expect(await visit.page.evaluate<string>("document.cookie")).toBe("")
    expect(withoutRefusals(visit)).toEqual([])
    await visit.close()
  })

  test("a wrong key gets an error at its field, with the way out", async () => {
    const visit = await newVisit(browser)
    await visit.page.goto(`${url()}/login`)
    await signIn(visit.page, "wrong")
    await visit.page.getByText("the key that the server printed at its first start").waitFor()
    expect(await visit.page.getByLabel("API key").getAttribute("aria-invalid")).toBe("true")
    await visit.close()
  })

  test("after signing in, nobody is sent to an address of another site", async () => {
    const visit = await newVisit(browser)
    await visit.page.goto(`${url()}/login?to=${encodeURIComponent("//example.com/x")}`)
    await signIn(visit.page, heddle.key)
    await visit.page.getByRole("heading", { name: "Projects" }).waitFor()
    expect(new URL(visit.page.url()).origin).toBe(url())
    await visit.close()
  })
})

describe("by a link", () => {
  test("its token signs in once and leaves the address", async () => {
    const { path: link } = await heddle.send<{ path: string }>("POST", "/v1/sign-in-links")
    const visit = await newVisit(browser)
    await visit.page.goto(`${url()}${link.replace("#", "?to=/local/demo#")}`)
    await visit.page.waitForURL(`${url()}/local/demo`)
    expect(visit.requests.filter((request) => request.includes("token="))).toEqual([])
    // Whoever follows it again is signed in still.
    await visit.page.goto("about:blank")
    await visit.page.goto(`${url()}${link.replace("#", "?to=/local/demo#")}`)
    await visit.page.getByText("was used already").waitFor()
    await visit.page.getByRole("button", { name: "Go on as admin" }).click()
    await visit.page.waitForURL(`${url()}/local/demo`)
    await visit.close()
    const second = await newVisit(browser)
    await second.page.goto(`${url()}${link}`)
    await second.page.getByText("was used already").waitFor()
    await signIn(second.page, heddle.key)
    await second.page.getByRole("heading", { name: "Projects" }).waitFor()
    await second.close()
  })

  test("the first start prints one, and it opens the first run of a project", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "heddle-first-link-"))
    const {
      child,
      url: ready,
      lines,
    } = launchServer(folder, {
      HEDDLE_ENGINE: "none",
      HEDDLE_LOG: "fatal",
      HEDDLE_ADMIN_KEY: "",
    })
    const address = await ready
    await expect.poll(() => lines.join("\n")).toContain("It works once, until")
    const link = /sign your browser in: (\S+)/.exec(lines.join("\n"))?.[1] ?? ""
    expect(link.startsWith(`${address}/login#token=`)).toBe(true)
    const visit = await newVisit(browser)
    await visit.page.goto(link)
    await visit.page.getByRole("heading", { name: "Send the first call" }).waitFor()
    expect(new URL(visit.page.url()).pathname).toBe("/local/demo")
    await visit.close()
    child.kill("SIGTERM")
    await once(child, "exit")
    await rm(folder, { recursive: true, force: true })
  })
})

describe("a session that ends while a page is open", () => {
  const typeAndEnd = async (page: Page) => {
    await page.getByRole("button", { name: "New project" }).click()
    await page.getByLabel("Name").fill("half-typed")
    await endSessions()
    await page.getByRole("button", { name: "Make project" }).click()
    await page.getByRole("heading", { name: "Sign in again" }).waitFor()
  }

  test("is renewed in place: the typed text is still there, and pressing again does the work", async () => {
    const visit = await signedIn(browser, heddle, "/")
    await typeAndEnd(visit.page)
    await signIn(visit.page, heddle.key)
    await visit.page.getByRole("heading", { name: "Sign in again" }).waitFor({ state: "hidden" })
    expect(await visit.page.getByLabel("Name").inputValue()).toBe("half-typed")
    await visit.page.getByRole("button", { name: "Make project" }).click()
    await visit.page.waitForURL(`${url()}/local/half-typed`)
    expect(withoutRefusals(visit)).toEqual([])
    await visit.close()
  })

  test("signing out leads to the sign-in page, and the back button does not lead in again", async () => {
    const visit = await signedIn(browser, heddle, "/local/demo")
    await visit.page.getByRole("button", { name: "admin" }).click()
    await visit.page.getByText("this browser").waitFor()
    await visit.page.getByRole("button", { name: "Sign out", exact: true }).click()
    await visit.page.getByRole("heading", { name: "Sign in to Heddle" }).waitFor()
    await visit.page.goBack()
    await visit.page.getByRole("heading", { name: "Sign in to Heddle" }).waitFor()
    await visit.close()
  })
})

test("a page of another origin cannot change anything by the cookie", async () => {
  const visit = await signedIn(browser, heddle, "/local/demo")
  const page = await visit.page.context().newPage()
  // Another port of this host: cookies are sent from there, since SameSite sees no other site.
  const other = createServer((_request, response) =>
    response.setHeader("content-type", "text/html").end("<p>other</p>"),
  )
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve))
  await page.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`)
  const attempt = (headers: Record<string, string>) =>
    page.evaluate<string>(
      `fetch(${JSON.stringify(`${url()}/v1/projects`)}, {
        method: "POST", credentials: "include", mode: ${JSON.stringify(headers["x-heddle-csrf"] === undefined ? "no-cors" : "cors")},
        headers: ${JSON.stringify(headers)}, body: '{"entity":"local","name":"stolen"}',
      }).then((answer) => answer.type, (error) => error.name)`,
    )
  // The first is sent, but its answer is a refusal that the page cannot read; the second is not sent at all.
  expect(await attempt({ "content-type": "text/plain" })).toBe("opaque")
  expect(await attempt({ "content-type": "application/json", "x-heddle-csrf": "1" })).toBe("TypeError")
  const { data } = await heddle.send<{ data: { name: string }[] }>("GET", "/v1/projects?query=stolen")
  expect(data).toEqual([])
  await visit.close()
  other.close()
})

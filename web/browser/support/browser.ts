/** Starts a real browser, and collects requests and complaints of the pages that it visits. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core"

export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env["HEDDLE_TEST_BROWSER"]
  if (executablePath === undefined) throw new Error("HEDDLE_TEST_BROWSER names no browser: run npm test -- browser")
  // Chromium's sandbox refuses to run as root, as which containers run tests; it opens our own pages only.
  return chromium.launch({ executablePath, args: ["--no-sandbox"] })
}

export const wide = { width: 1440, height: 900 }
export const phone = { width: 390, height: 844 }

export interface Visit {
  page: Page
  /** Addresses of every request. */
  requests: string[]
  /** Errors and warnings of the console, failed requests, violations of the page's policy. */
  complaints: string[]
  close: () => Promise<void>
}

/** Opens a page in a new context, which shares no cookie and no storage with another. */
export async function newVisit(browser: Browser, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport: wide, ...options })
  const page = await context.newPage()
  const requests: string[] = []
  const complaints: string[] = []
  page.on("request", (request) => requests.push(request.url()))
  page.on("requestfailed", (request) => {
    // A page that is left aborts its open requests.
    if (request.failure()?.errorText !== "net::ERR_ABORTED")
      complaints.push(`${request.url()}: ${request.failure()?.errorText}`)
  })
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text())
  })
  page.on("pageerror", (error) => complaints.push(error.message))
  await context.addInitScript(
    `addEventListener("securitypolicyviolation", (event) => console.error("policy: " + event.violatedDirective + " " + event.blockedURI))`,
  )
  return { page, requests, complaints, close: () => context.close() }
}

/** Requests to another origin than the server's. */
export function foreign(requests: readonly string[], url: string): string[] {
  return requests.filter((request) => !request.startsWith(`${url}/`) && !/^(data|blob):/.test(request))
}

/** Starts a real browser, and collects requests and complaints of the pages that it visits. */
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core"

export async function launchBrowser(): Promise<Browser> {
  const executablePath = process.env["HEDDLE_TEST_BROWSER"]
  if (executablePath === undefined) throw new Error("HEDDLE_TEST_BROWSER names no browser: run npm test -- browser")
  return chromium.launch({
    executablePath,
    args: [
      // Chromium's sandbox refuses to run as root, as which containers run tests; it opens our own pages only.
      "--no-sandbox",
      // Pages of one context share a process, and with it their compiled code.
      "--renderer-process-limit=1",
    ],
  })
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

/** Opens a page in a new context, which shares no cookie, no storage and no cache with another. */
export async function newVisit(browser: Browser, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await newContext(browser, options)
  return { ...(await openPage(context)), close: () => context.close() }
}

/** Contexts in which nobody is any more, by the options that they were made with. */
const leftContexts = new WeakMap<Browser, Map<string, BrowserContext[]>>()

/**
 * Opens a page in a context that an earlier visit has left, if there is one: without its cookies and storage, but its code
 * is there and compiled, which is half of the work of a visit. What else a test changes in a context, its clock for one,
 * stays: such a test closes the context instead of the visit.
 */
export async function nextVisit(browser: Browser, options: BrowserContextOptions = {}): Promise<Visit> {
  const lefts = leftContexts.get(browser) ?? new Map<string, BrowserContext[]>()
  leftContexts.set(browser, lefts)
  const key = JSON.stringify(options)
  const left = lefts.get(key) ?? []
  lefts.set(key, left)
  const context = left.pop() ?? (await newContext(browser, options))
  const visit = await openPage(context)
  const close = async () => {
    await forget(visit.page)
    await Promise.all(context.pages().map((page) => page.close()))
    left.push(context)
  }
  return { ...visit, close }
}

/** Removes what the page's origin keeps in its context, but for the cache. */
async function forget(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  const origin = new URL(page.url()).origin
  const storageTypes = "cookies,local_storage,indexeddb"
  await devtools.send("Storage.clearDataForOrigin", { origin, storageTypes })
  await page.context().clearCookies()
}

async function newContext(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: wide, ...options })
  await context.addInitScript(
    `addEventListener("securitypolicyviolation", (event) => console.error("policy: " + event.violatedDirective + " " + event.blockedURI))`,
  )
  return context
}

async function openPage(context: BrowserContext): Promise<Omit<Visit, "close">> {
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
  return { page, requests, complaints }
}

/** Requests to another origin than the server's. */
export function foreign(requests: readonly string[], url: string): string[] {
  return requests.filter((request) => !request.startsWith(`${url}/`) && !/^(data|blob):/.test(request))
}

/** The page of the API reference, on a real server in a real browser. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { foreign, launchBrowser, newVisit, type Visit } from "./support/browser.ts"
import { type Heddle, startHeddle } from "./support/heddle.ts"

let server: Heddle
let browser: Browser
beforeAll(async () => {
  ;[server, browser] = await Promise.all([startHeddle({ HEDDLE_ENGINE: "none" }), launchBrowser()])
})
afterAll(async () => {
  await browser?.close()
  await server?.close()
})

async function visit(
  colorScheme: "light" | "dark",
  viewport: BrowserContextOptions["viewport"] = { width: 1280, height: 900 },
): Promise<Visit> {
  const opened = await newVisit(browser, { colorScheme, viewport })
  await opened.page.goto(`${server.url}/docs/`)
  await opened.page.locator(".opblock").first().waitFor()
  return opened
}

/** Puts the page back as it was after it was loaded, which takes seconds with a document of this length. */
async function backToStart(page: Page): Promise<void> {
  await page.getByPlaceholder("Search").fill("")
  await page.evaluate("scrollTo(0, 0)")
  await page.locator(".opblock").nth(1).waitFor()
}

const methods = ["get", "post", "put", "patch", "delete"]

async function operationsOfDocument(): Promise<number> {
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: Record<string, object> }
  return Object.values(document.paths).flatMap((item) => Object.keys(item).filter((key) => methods.includes(key)))
    .length
}

/** Ids of all operations, read by scrolling down: a long document draws only the operations near the window. */
async function shownOperations(page: Page): Promise<Set<string>> {
  const shown = new Set<string>()
  for (let last = -1, at = 0; at !== last;) {
    const ids = await page.evaluate<string[]>("[...document.querySelectorAll('.opblock')].map((one) => one.id)")
    for (const id of ids) shown.add(id)
    last = at
    await page.mouse.wheel(0, 600)
    await page.waitForTimeout(100)
    at = await page.evaluate<number>("scrollY")
  }
  return shown
}

/**
 * Colours of an element's text and of its background, as `rgb(…)`. Its script is text, because its names are the
 * browser's.
 */
async function coloursOf(page: Page, selector: string): Promise<[string, string]> {
  await page.locator(selector).first().waitFor({ timeout: 5_000 })
  return page.evaluate<[string, string]>(`(() => {
    let behind = document.querySelector(${JSON.stringify(selector)})
    const { color } = getComputedStyle(behind)
    while (getComputedStyle(behind).backgroundColor === "rgba(0, 0, 0, 0)") behind = behind.parentElement
    return [color, getComputedStyle(behind).backgroundColor]
  })()`)
}

/** WCAG 2.2, relative luminance. */
function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map((text) => {
    const channel = Number(text) / 255
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** WCAG 2.2, contrast ratio: 1 (none) to 21. */
function contrast(colours: readonly string[]): number {
  const [light = 0, dark = 0] = colours.map(luminance).toSorted((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

const readTexts = [
  ".info .title",
  ".info .renderedMarkdown p",
  ".opblock-tag",
  ".opblock-summary-path",
  ".opblock-summary-description",
  ".responses-table .response-col_status",
]

describe.each(["light", "dark"] as const)("the reference page, %s", (colorScheme) => {
  let opened: Visit
  beforeAll(async () => {
    opened = await visit(colorScheme)
  })
  afterAll(() => opened.close())

  test("shows every operation of the document, and nothing comes from another host", async () => {
    const { page, requests, complaints } = opened
    expect(page.url()).toBe(`${server.url}/docs/`)
    expect(await page.title()).toBe("Heddle API")
    expect((await shownOperations(page)).size).toBe(await operationsOfDocument())
    expect([foreign(requests, server.url), complaints]).toEqual([[], []])
  })

  test("an operation can be opened and says what it takes and gives", async () => {
    const { page, complaints } = opened
    // The search brings the operation near the window: a long document draws only the operations there.
    await page.getByPlaceholder("Search").fill("sft-training-jobs")
    const operation = page.locator(".opblock", { hasText: "/v1/preview/sft-training-jobs" }).first()
    expect(await operation.locator(".opblock-body").count()).toBe(0)
    await operation.locator(".opblock-summary").click()
    const body = operation.locator(".opblock-body")
    await body.getByText("training_data_url").first().waitFor()
    expect(await body.locator(".responses-table .response-col_status").allTextContents()).toContain("200")
    expect(complaints).toEqual([])
  })

  test("is readable in these colours", async () => {
    const { page } = opened
    await backToStart(page)
    await page.locator(".opblock-summary").first().click()
    const background = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor")
    expect(background).toBe({ light: "rgb(251, 250, 248)", dark: "rgb(22, 23, 26)" }[colorScheme])
    const contrasts: Record<string, number> = {}
    for (const selector of readTexts) contrasts[selector] = contrast(await coloursOf(page, selector))
    // WCAG level AA for text of any size.
    expect(Object.entries(contrasts).filter(([, ratio]) => ratio < 4.5)).toEqual([])
  })

  test("the search finds operations by words in their paths and summaries", async () => {
    const { page, complaints } = opened
    const search = page.getByPlaceholder("Search")
    await search.fill("delete api_keys")
    await page.locator(".opblock", { hasText: "/v1/organization/api_keys/{api_key_id}" }).first().waitFor()
    await expect.poll(() => page.locator(".opblock").count()).toBe(1)
    await search.fill("no such operation")
    await expect.poll(() => page.locator(".opblock").count()).toBe(0)
    expect(complaints).toEqual([])
  })
})

/** What is out of the window at its sides and can be scrolled into it by nothing but the page itself. */
const outside = `
  [...document.querySelectorAll("#swagger-ui *")]
    .filter((one) => {
      const { left, right, width, height } = one.getBoundingClientRect()
      if (width === 0 || height === 0 || (left >= 0 && right <= innerWidth + 1)) return false
      for (let around = one.parentElement; around !== null; around = around.parentElement) {
        if (["auto", "scroll"].includes(getComputedStyle(around).overflowX)) return false
      }
      return true
    })
    .map((one) => one.tagName + "." + one.getAttribute("class"))`

describe("on a telephone", () => {
  let opened: Visit
  beforeAll(async () => {
    opened = await visit("light", { width: 375, height: 700 })
  })
  afterAll(() => opened.close())

  test("it fits a narrow screen without scrolling sideways", async () => {
    expect(await opened.page.evaluate<number>("document.documentElement.scrollWidth")).toBeLessThanOrEqual(375)
  })

  test.each([
    ["with parameters", "GET /v1/preview/models", "#operations-Models-get_v1_preview_models"],
    ["with a body and many answers", "calls/stream_query", "#operations-Calls-post_calls_stream_query"],
  ])("an operation %s is whole: wide code scrolls by itself", async (_what, words, id) => {
    const { page } = opened
    await page.setViewportSize({ width: 390, height: 844 })
    await backToStart(page)
    await page.getByPlaceholder("Search").fill(words)
    const operation = page.locator(id)
    await operation.locator(".opblock-summary").click()
    await operation.locator(".responses-table tbody .response-col_status").first().waitFor()
    expect(await page.evaluate<string[]>(outside)).toEqual([])
    await operation.locator(".try-out__btn").click()
    await operation.locator(".execute").waitFor()
    expect(await page.evaluate<string[]>(outside)).toEqual([])
    for (const tab of await operation.getByRole("tab", { name: "Schema" }).all()) await tab.click()
    expect(await page.evaluate<string[]>(outside)).toEqual([])
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(390)
  })
})

test("on a telephone the key is asked for in a window that fits", async () => {
  const { page } = await visit("dark", { width: 390, height: 844 })
  await page.locator(".btn.authorize").first().click()
  const box = await page.locator(".modal-ux").boundingBox()
  expect(box?.x).toBeGreaterThanOrEqual(0)
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390)
  await page.locator(".modal-ux input").fill(server.key)
  await page.locator(".modal-ux .auth-btn-wrapper .authorize").click()
  await page.locator(".modal-ux .btn-done").click()
  await page.context().close()
})

test("a key is kept over a reload, in its tab alone, and the example of an operation is answered", async () => {
  const { page } = await visit("light")
  await page.locator(".btn.authorize").first().click()
  await page.locator(".modal-ux input").fill(server.key)
  await page.locator(".modal-ux .auth-btn-wrapper .authorize").click()
  await page.locator(".modal-ux .btn-done").click()
  await page.reload()
  await page.getByPlaceholder("Search").fill("start a call")
  const operation = page.locator("#operations-Calls-post_call_start")
  await operation.locator(".opblock-summary").click()
  await operation.locator(".try-out__btn").click()
  await operation.locator(".execute").click()
  await operation.locator(".live-responses-table .response-col_status", { hasText: "200" }).first().waitFor()
  const stranger = await page.context().newPage()
  await stranger.goto(`${server.url}/docs/`)
  expect(await stranger.evaluate<string | null>("sessionStorage.getItem('heddle-docs-key')")).toBe(null)
  await page.context().close()
})

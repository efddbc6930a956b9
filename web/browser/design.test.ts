/** Components: axe finds nothing serious in any of their states, and the larger ones do what a person asks of them. */
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { flaws } from "./support/axe.ts"
import { launchBrowser, newVisit, type Visit } from "./support/browser.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle({ HEDDLE_ENGINE: "none" }), launchBrowser()])
  for (const name of ["demo", "support"]) await heddle.send("POST", "/v1/projects", { entity: "local", name })
})
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

describe("in both themes, wide and on a phone: nothing serious for axe, and nothing to scroll sideways", () => {
  test("components", async () => {
    const { page, close } = await signedIn(browser, heddle, "/design")
    await page.getByText("a picture of another host").waitFor()
    await expect.poll(() => page.locator('[data-drawn="true"]').count()).toBe(2)
    expect(await flaws(page)).toEqual([])
    await close()
  })

  test("first run, projects, sign-in, palette, keys", async () => {
    const { page, close } = await signedIn(browser, heddle, "/local/demo")
    await page.getByText("Listening").waitFor()
    expect(await flaws(page)).toEqual([])
    await page.keyboard.press("Control+k")
    await page.getByRole("menuitem").first().waitFor()
    expect(await flaws(page)).toEqual([])
    await page.keyboard.press("Escape")
    await page.keyboard.press("?")
    await page.getByRole("dialog", { name: "Keys" }).waitFor()
    expect(await flaws(page)).toEqual([])
    await page.goto(`${heddle.url}/`)
    await page.getByRole("link", { name: "support" }).waitFor()
    expect(await flaws(page)).toEqual([])
    await close()
    const out = await newVisit(browser)
    await out.page.goto(`${heddle.url}/login`)
    await out.page.getByLabel("API key").waitFor()
    expect(await flaws(out.page)).toEqual([])
    await out.close()
  })
})

describe("components that do something", () => {
  let visit: Visit
  let page: Page
  beforeAll(async () => {
    visit = await signedIn(browser, heddle, "/design")
    page = visit.page
  })
  afterAll(() => visit?.close())

  test("JSON opens on demand, keeps its numbers, and finds what is not drawn", async () => {
    const tree = page.getByRole("tree", { name: "Sample" })
    await tree.getByText("12345678901234567890").waitFor()
    await tree.getByRole("treeitem", { name: /more/ }).click()
    await page.getByLabel("Find in Sample").fill("277")
    await page.getByLabel("Find in Sample").press("Enter")
    await page.getByText("1 of 1").waitFor()
    await tree.getByRole("treeitem", { selected: true }).getByText("277").nth(0).waitFor()
  })

  test("JSON is walked with the arrows", async () => {
    await page.reload()
    const tree = page.getByRole("tree", { name: "Sample" })
    await tree.getByText("messages").waitFor()
    await tree.focus()
    for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowDown", "ArrowRight"])
      await page.keyboard.press(key)
    await tree.getByText('"user"').waitFor()
    await page.keyboard.press("ArrowLeft")
    await tree.getByText('"user"', { exact: true }).waitFor({ state: "hidden" })
  })

  test("a large JSON says so when what reads it does not load", async () => {
    const { page: another, close } = await signedIn(browser, heddle, "/design")
    await another.route("**/json-worker-*.js", (route) => route.abort())
    await another.getByLabel("Megabytes").fill("1")
    await another.getByRole("button", { name: "Make a large JSON text" }).click()
    await another.getByRole("button", { name: "Open the large JSON text" }).click()
    await another.getByText("Large could not be read as a tree.").waitFor()
    await another.unroute("**/json-worker-*.js")
    await another.getByRole("button", { name: "Open the large JSON text" }).click()
    await another.getByRole("button", { name: "Open the large JSON text" }).click()
    await another.getByRole("tree", { name: "Large" }).getByText("records").waitFor()
    await close()
  })

  test("Markdown runs no HTML and loads nothing from elsewhere", async () => {
    await page.getByText('<b onclick="alert(1)">HTML is text</b>').waitFor()
    expect(await page.locator("[onclick]").count()).toBe(0)
    expect(visit.requests.filter((request) => request.includes("example.com"))).toEqual([])
  })

  test("the one peak of 100,000 points is in the chart's table of 500", async () => {
    await page.getByRole("button", { name: "Show as a table: Reward by step, with one peak" }).click()
    const table = page.getByRole("region", { name: "Reward by step, with one peak" })
    const cells = await table.locator("tbody td").allTextContents()
    expect(Math.max(...cells.map((cell) => Number(cell) || 0))).toBeGreaterThan(1.5)
  })

  test("of a million rows a few dozen are drawn; keys walk, select and stay in view", async () => {
    const grid = page.getByRole("grid", { name: "Sample calls" })
    await grid.scrollIntoViewIfNeeded()
    expect(await grid.getAttribute("aria-rowcount")).toBe("1000001")
    expect(await grid.getByRole("row").count()).toBeLessThan(60)
    await page.getByRole("heading", { name: "States and components" }).click()
    for (let count = 0; count < 30; count += 1) await page.keyboard.press("j")
    await page.keyboard.press("x")
    await page.getByText("op_32, ").waitFor()
    await page.getByText("2 selected").waitFor()
    await grid.getByRole("row", { selected: true }).getByText("op_32").waitFor()
    const inHand = grid.locator("[aria-current=true]")
    /** Pixels of the row in hand that are seen: below the head, which lies over the rows, and within the table. */
    const seen = async () => {
      const [table, head, row] = await Promise.all(
        [grid, grid.getByRole("row").first(), inHand].map((one) => one.boundingBox()),
      )
      if (table == null || head == null || row == null) return 0
      return Math.min(table.y + table.height, row.y + row.height) - Math.max(head.y + head.height, row.y)
    }
    expect(await seen()).toBe(28)
    for (let count = 0; count < 30; count += 1) await page.keyboard.press("k")
    expect([await inHand.getAttribute("aria-rowindex"), await seen()]).toEqual(["4", 28])
  })

  test("a column's width follows its edge, and is there after a reload only where it has a name", async () => {
    const grid = page.getByRole("grid", { name: "Sample calls" })
    const head = grid.getByRole("columnheader", { name: /^Op/ })
    const before = (await head.boundingBox())?.width ?? 0
    await grid.getByRole("separator", { name: "Width of Op" }).focus()
    await page.keyboard.press("ArrowRight")
    await expect.poll(async () => (await head.boundingBox())?.width ?? 0).toBe(before + 16)
  })

  test("panes are moved by the keyboard, too, and stay where they were put", async () => {
    const edge = page.getByRole("separator", { name: "Width of the table" })
    await edge.focus()
    await page.keyboard.press("ArrowLeft")
    expect(await edge.getAttribute("aria-valuenow")).toBe("68")
    await page.reload()
    await edge.waitFor()
    expect(await edge.getAttribute("aria-valuenow")).toBe("68")
  })

  test("a dialog takes the focus, keeps it, and gives it back", async () => {
    const button = page.getByRole("button", { name: "Open a dialog" })
    await button.click()
    await page.getByRole("dialog", { name: "Move production?" }).waitFor()
    for (let count = 0; count < 5; count += 1) await page.keyboard.press("Tab")
    expect(await page.evaluate(`document.activeElement.closest("[role=dialog]") !== null`)).toBe(true)
    await page.keyboard.press("Escape")
    await expect.poll(() => page.evaluate("document.activeElement.textContent")).toBe("Open a dialog")
  })
})

test("where motion is not wanted nothing moves", async () => {
  const { page, close } = await signedIn(browser, heddle, "/local/demo", { reducedMotion: "reduce" })
  await page.getByText("Waiting for the first call").waitFor()
  const running = `document.getAnimations().filter((animation) => animation.playState === "running").length`
  expect(await page.evaluate(running)).toBe(0)
  await close()
})

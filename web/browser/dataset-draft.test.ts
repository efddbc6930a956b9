/** Rows of a dataset that are changed in a draft, and published as its next version. */
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { launchBrowser } from "./support/browser.ts"
import { heldBack } from "./support/held-back.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle({ HEDDLE_ENGINE: "none" }), launchBrowser()])
})
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const project = "local/drafts"
/** JavaScript has no such number: it must keep its digits. */
const large = "12345678901234567890"
const rows = [
  { ticket: "The zip broke.", number: JSON.rawJSON(large) },
  { ticket: "One size too small.", number: 2 },
  { ticket: "Who pays customs?", number: 3 },
]

const publish = (name: string, given: object[]) =>
  heddle.send<{ digest: string }>("POST", `/v2/${project}/datasets`, { name, rows: given })

/** The rows of the newest version, as they are stored. */
async function storedRows(name: string): Promise<string[]> {
  const read = { project_id: project, object_id: name, digest: "latest" }
  const { obj } = await heddle.send<{ obj: { val: { rows: string } } }>("POST", "/obj/read", read)
  const answer = await fetch(`${heddle.url}/table/query_stream`, {
    method: "POST",
    headers: { authorization: `Bearer ${heddle.key}`, "content-type": "application/json" },
    body: JSON.stringify({ project_id: project, digest: obj.val.rows.split("/").at(-1) }),
  })
  const lines = (await answer.text()).trim().split("\n")
  return lines.map((line) => /"val":(\{.*?\})/.exec(line)?.[1] ?? line)
}

const open = (name: string) => signedIn(browser, heddle, `/${project}/objects/${name}/versions/latest?show=all`)
const grid = (page: Page) => page.getByRole("grid", { name: "Rows of the dataset" })
const draft = (page: Page) => page.getByRole("region", { name: "Draft" })
const editor = (page: Page) => page.getByRole("textbox", { name: "The row, JSON" })

async function takeIn(page: Page, change: (text: string) => string): Promise<void> {
  await editor(page).fill(change(await editor(page).inputValue()))
  await page.getByRole("button", { name: "Take it into the draft" }).click()
}

async function changeFirst(page: Page, change: (text: string) => string): Promise<void> {
  await grid(page).getByRole("row").nth(1).click()
  await page.getByRole("button", { name: "Change", exact: true }).click()
  await takeIn(page, change)
}

test("rows are changed, removed and added in a draft that a reload keeps, and published as the next version", async () => {
  await publish("tickets", rows)
  const { page, close, complaints } = await open("tickets")
  await changeFirst(page, (text) => {
    expect(text).toBe(`{\n  "ticket": "The zip broke.",\n  "number": ${large}\n}`)
    return text.replace("zip", "zipper")
  })
  await grid(page)
    .getByRole("row", { name: /changed.*The zipper broke/ })
    .waitFor()
  await grid(page).getByText("One size too small.").click()
  await page.getByRole("button", { name: "Remove" }).click()
  await page.getByRole("button", { name: "Add a row" }).click()
  await editor(page).fill("[]")
  await page.getByText("A row is an object", { exact: false }).waitFor()
  expect(await page.getByRole("button", { name: "Take it into the draft" }).isDisabled()).toBe(true)
  await takeIn(page, () => '{ "ticket": "I want a person.", "number": 1.0 }')
  const told = "Not published: 1 changed, 1 removed, 1 added."
  await draft(page).getByText(told).waitFor()
  await page.reload()
  await draft(page).getByText(told).waitFor()
  await grid(page)
    .getByRole("row", { name: /added.*I want a person/ })
    .waitFor()

  await draft(page).getByRole("button", { name: "Publish as v1" }).click()
  const table = page.getByRole("table", { name: "Rows that differ between v0 and v1" })
  await table.waitFor()
  await draft(page).waitFor({ state: "detached" })
  expect(await storedRows("tickets")).toEqual([
    `{"ticket":"The zipper broke.","number":${large}}`,
    '{"ticket":"Who pays customs?","number":3}',
    '{"ticket":"I want a person.","number":1.0}',
  ])
  expect(complaints).toEqual([])
  await close()
})

test("a row that is written as it was is not changed, and a draft is discarded after a question", async () => {
  await publish("same", rows)
  const { page, close } = await open("same")
  await changeFirst(page, (text) => `${text}  `)
  await expect.poll(() => draft(page).count()).toBe(0)
  await page.getByRole("button", { name: "Remove" }).click()
  await draft(page).getByText("Not published: 1 removed.").waitFor()
  await page.getByRole("button", { name: "As it was" }).click()
  await expect.poll(() => draft(page).count()).toBe(0)
  await page.getByRole("button", { name: "Remove" }).click()
  await draft(page).getByRole("button", { name: "Discard…" }).click()
  await page.getByRole("button", { name: "Discard it" }).click()
  await expect.poll(() => draft(page).count()).toBe(0)
  expect(await grid(page).getByText("removed").count()).toBe(0)
  await close()
})

test("a draft is not changed while it is published, and is gone also when its page was left meanwhile", async () => {
  await publish("slow", rows)
  const { page, close } = await signedIn(browser, heddle, `/${project}/objects/slow/versions/v0?show=all`)
  await changeFirst(page, (text) => text.replace("zip", "zipper"))
  const { free } = await heldBack(page, "**/table/update")
  await draft(page).getByRole("button", { name: "Publish as v1" }).click()
  await draft(page).getByRole("button", { name: "Publishing…" }).waitFor()
  await expect.poll(() => page.getByRole("button", { name: /^(Add a row|Change|Remove|As it was)$/ }).count()).toBe(0)
  const leave = async () => {
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Traces" }).click()
    await page.waitForURL("**/traces*")
  }
  await leave()
  await page.goBack()
  await draft(page).getByRole("button", { name: "Publishing…" }).waitFor()
  await leave()
  free()
  await expect.poll(async () => (await storedRows("slow"))[0]).toContain("zipper")
  // Who comes back while it is on its way is led to the version that was published.
  const isKept = () => page.evaluate<boolean>(`Object.values(sessionStorage).some((text) => text.includes("zipper"))`)
  await expect.poll(isKept).toBe(false)
  await page.goBack()
  await grid(page)
    .getByRole("row", { name: /The zip broke/ })
    .waitFor()
  await expect.poll(() => draft(page).count()).toBe(0)
  await close()
})

test("what is published leads nobody back who is on the way to a page whose code is slow to come", async () => {
  await publish("left", rows)
  const { page, close } = await open("left")
  await changeFirst(page, (text) => text.replace("zip", "zipper"))
  const change = await heldBack(page, "**/table/update")
  const code = await heldBack(page, "**/assets/evaluations-page*.js")
  await draft(page).getByRole("button", { name: "Publish as v1" }).click()
  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Evaluations" }).click()
  await page.waitForURL("**/evaluations*")
  await Promise.all([change.came, code.came])
  change.free()
  const isKept = () => page.evaluate<boolean>(`Object.values(sessionStorage).some((text) => text.includes("zipper"))`)
  await expect.poll(isKept).toBe(false)
  expect(new URL(page.url()).pathname).toBe(`/${project}/evaluations`)
  code.free()
  await page.getByRole("heading", { name: "Evaluations", level: 1 }).waitFor()
  await close()
})

test("a draft does not take back what somebody else published meanwhile", async () => {
  await publish("shared", rows)
  const { page, close } = await open("shared")
  await changeFirst(page, (text) => text.replace("zip", "zipper"))
  const other = [...rows, { ticket: "Another one.", number: 4 }]
  await publish("shared", other)
  await draft(page).getByRole("button", { name: "Publish as v1" }).click()
  await draft(page).getByText("Another version of “shared” was published meanwhile").waitFor()
  expect(await storedRows("shared")).toHaveLength(4)
  await page.goto(`${heddle.url}/${project}/objects/shared/versions/v0?show=all`)
  await draft(page).getByText("v1 was published meanwhile").waitFor()
  expect(await page.getByRole("button", { name: /^Publish as/ }).count()).toBe(0)
  expect(await page.getByRole("button", { name: "Add a row" }).count()).toBe(0)
  await close()
})

/** The loop as somebody new goes it, by clicking alone: traces that are here, labels, and a job on them. */
import { randomUUID } from "node:crypto"
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { launchBrowser } from "./support/browser.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
const project = "local/first"
const count = 10

beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle(), launchBrowser()])
  // Every third answer is wrong.
  const batch = Array.from({ length: count }, (_, n) => {
    const id = randomUUID()
    return {
      project_id: project,
      id,
      trace_id: id,
      op_name: "openai.chat.completions.create",
      started_at: new Date(Date.now() - (count - n) * 60_000).toISOString(),
      ended_at: new Date(Date.now() - (count - n) * 60_000 + 900).toISOString(),
      attributes: {},
      inputs: { model: "heddle/tiny", messages: [{ role: "user", content: `${n}+1=` }] },
      output: { choices: [{ message: { role: "assistant", content: n % 3 === 0 ? "no idea" : `${n + 1}` } }] },
      summary: {},
    }
  })
  await heddle.send("POST", `/v2/${project}/calls/complete`, { batch })
}, 180_000)
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

test("ten answers are labelled and trained on without a word being typed", { timeout: 300_000 }, async () => {
  const { page, complaints } = await signedIn(browser, heddle, `/${project}/queues`)
  await page.getByRole("link", { name: "New queue" }).first().click()
  await page.getByRole("button", { name: "Take all traces" }).click()
  await page.getByText("10 calls: all time.").waitFor()
  await page.getByRole("button", { name: "Is the answer right?" }).click()
  await page.getByRole("button", { name: "What should it have said?" }).click()
  await page.getByRole("button", { name: "Make the queue" }).click()
  await page.getByText("0 of 10 items finished").waitFor()

  await page.getByRole("link", { name: "Label", exact: true }).click()
  const question = page.getByRole("radiogroup", { name: "right" })
  const item = page.getByRole("region", { name: "Item", exact: true })
  for (let done = 0, last: string | null = null; done < count; done += 1) {
    await expect.poll(() => item.getAttribute("data-item")).not.toBe(last)
    last = await item.getAttribute("data-item")
    await item.getByText("+1=").waitFor()
    const isWrong = (await item.getByText("no idea").count()) > 0
    await question.getByRole("radio", { name: isWrong ? "no" : "yes" }).click()
    await page.getByRole("button", { name: /^Submit/ }).click()
  }
  await page.getByText("10 items: 10 finished, 10 labelled or skipped by you.").waitFor()

  await page.getByRole("link", { name: "Train on these labels" }).click()
  await page.getByRole("button", { name: "Make the model" }).click()
  await page.getByRole("button", { name: "Start on 6 rows" }).click()
  await page.waitForURL(/\/jobs\/[0-9a-f-]{36}$/)
  await page.getByText("6 rows of 10 that were read").waitFor()
  await expect
    .poll(
      async () =>
        (await heddle.send<{ status: string }>("GET", `/v1/preview/training-jobs/${page.url().slice(-36)}`)).status,
      { timeout: 120_000 },
    )
    .toBe("succeeded")
  expect(complaints).toEqual([])
})

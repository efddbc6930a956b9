/** What a window or a page began goes on when it is closed or left, and leads nobody away from where they are by then. */
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { launchBrowser } from "./support/browser.ts"
import { fillLabelTeam, type LabelTeam, newQueue } from "./support/fill-queue.ts"
import { fillRun } from "./support/fill-runs.ts"
import { heldBack } from "./support/held-back.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
let team: LabelTeam
beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle({ HEDDLE_ENGINE: "none" }), launchBrowser()])
  team = await fillLabelTeam(heddle)
})
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const pathOf = (page: Page) => new URL(page.url()).pathname

test("a window that deletes a run says that it goes on, and once closed leads nobody away", async () => {
  for (const name of ["gone", "other"])
    await fillRun(heddle, "left-runs", { name, displayName: name, exitCode: 0, steps: 2 })
  const { page, close } = await signedIn(browser, heddle, "/local/left-runs/runs/gone")
  await page.getByRole("button", { name: "Edit", exact: true }).click()
  await page.getByRole("button", { name: "Delete the run…" }).click()
  const { came, release } = await heldBack(page, "**/graphql", (_method, body) => body.includes("deleteRun"))
  await page.getByRole("button", { name: "Delete the run", exact: true }).click()
  await came
  await page.getByText("It goes on when this window is closed.").waitFor()
  await page.getByRole("button", { name: "Close", exact: true }).click()
  await page.keyboard.press("Escape")
  await page.getByRole("link", { name: "Runs", exact: true }).first().click()
  await page.getByRole("link", { name: "other", exact: true }).click()
  await page.getByRole("heading", { name: "other" }).waitFor()
  await release()
  expect(pathOf(page)).toBe("/local/left-runs/runs/other")
  await page.getByRole("link", { name: "Runs", exact: true }).first().click()
  await page.getByText("1 run", { exact: true }).waitFor()
  await close()
})

test("the page of a run whose window was closed says that the run is gone", async () => {
  await fillRun(heddle, "left-run", { name: "gone", displayName: "gone", exitCode: 0, steps: 2 })
  const { page, close } = await signedIn(browser, heddle, "/local/left-run/runs/gone")
  await page.getByRole("button", { name: "Edit", exact: true }).click()
  await page.getByRole("button", { name: "Delete the run…" }).click()
  const { came, release } = await heldBack(page, "**/graphql", (_method, body) => body.includes("deleteRun"))
  await page.getByRole("button", { name: "Delete the run", exact: true }).click()
  await came
  await page.keyboard.press("Escape")
  await release()
  await page.getByRole("heading", { name: "No such run" }).waitFor()
  expect(pathOf(page)).toBe("/local/left-run/runs/gone")
  await close()
})

test("a list whose window was closed goes on without what is gone, and with the rest of its ticks", async () => {
  for (const name of ["gone", "kept"])
    await fillRun(heddle, "left-list", { name, displayName: name, exitCode: 0, steps: 2 })
  const { page, close } = await signedIn(browser, heddle, "/local/left-list/runs?runs=gone,kept&q=gone")
  await page.getByRole("button", { name: "Delete 1 run…" }).click()
  const { came, release } = await heldBack(page, "**/graphql", (_method, body) => body.includes("deleteRun"))
  await page.getByRole("button", { name: "Delete the run", exact: true }).click()
  await came
  await page.keyboard.press("Escape")
  await page.getByRole("dialog").waitFor({ state: "hidden" })
  await release()
  await page.getByRole("heading", { name: "No run fits" }).waitFor()
  await expect.poll(() => new URL(page.url()).searchParams.get("runs")).toBe("kept")
  await close()
})

test("a window that deletes a project leads nobody away once it is closed", async () => {
  for (const name of ["left-project", "next-project"])
    await heddle.send("POST", "/v1/projects", { entity: "local", name })
  const { page, close } = await signedIn(browser, heddle, "/local/left-project/settings/project")
  await page.getByRole("button", { name: "Delete project…" }).click()
  await page.getByLabel("To go on, type left-project").fill("left-project")
  const { came, release } = await heldBack(page, "**/v1/projects/**", (method) => method === "DELETE")
  await page.getByRole("button", { name: "Delete project", exact: true }).click()
  await came
  await page.keyboard.press("Escape")
  await page.getByRole("link", { name: "Traces" }).click()
  await page.getByText("No traces yet").waitFor()
  await release()
  await page.getByRole("heading", { name: "There is no such project here" }).waitFor()
  expect(pathOf(page)).toBe("/local/left-project/traces")
  await close()
})

test("a window that deletes a queue leads nobody away once it is closed", async () => {
  const { id } = await newQueue(heddle, team, 1)
  const { page, close } = await signedIn(browser, heddle, `/${team.id}/queues/${id}?dialog=settings`)
  await page.getByRole("button", { name: "Delete the queue…" }).click()
  const { came, release } = await heldBack(page, "**/annotation_queues/**", (method) => method === "DELETE")
  await page.getByRole("button", { name: /^Delete / }).click()
  await came
  await page.keyboard.press("Escape")
  await page.getByRole("dialog", { name: "Queue settings" }).waitFor()
  await page.keyboard.press("Escape")
  await page.getByRole("link", { name: "Evaluations" }).click()
  await page.getByText("No evaluations yet").waitFor()
  await release()
  expect(pathOf(page)).toBe(`/${team.id}/evaluations`)
  await close()
})

test("a page on which a queue was begun leads nobody to it once it is left", async () => {
  const { page, close } = await signedIn(browser, heddle, `/${team.id}/queues/new?q=op is nothing`)
  await page.getByLabel("Name", { exact: true }).fill("Made meanwhile")
  await page.getByRole("checkbox", { name: "tone" }).check()
  const { came, release } = await heldBack(page, "**/annotation_queues", (method) => method === "POST")
  await page.getByRole("button", { name: "Make the queue" }).click()
  await came
  await page.getByRole("link", { name: "Evaluations" }).click()
  await page.getByText("No evaluations yet").waitFor()
  await release()
  expect(pathOf(page)).toBe(`/${team.id}/evaluations`)
  await page.getByRole("link", { name: "Labelling" }).click()
  await page.getByRole("link", { name: "Made meanwhile", exact: true }).waitFor()
  await close()
})

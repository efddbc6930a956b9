/** What somebody may not do is not offered to them: docs/reference/access.md. */
import { randomUUID } from "node:crypto"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { launchBrowser } from "./support/browser.ts"
import { fillLabelTeam, type LabelTeam } from "./support/fill-queue.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
let team: LabelTeam
const trace = randomUUID()
let digest = ""
beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle({ HEDDLE_ENGINE: "none" }), launchBrowser()])
  team = await fillLabelTeam(heddle)
  const call = {
    project_id: team.id,
    id: randomUUID(),
    trace_id: trace,
    op_name: "answer",
    started_at: new Date().toISOString(),
    ended_at: new Date().toISOString(),
    attributes: {},
    inputs: { question: "Hello?" },
    output: "answered",
    summary: {},
  }
  await heddle.send("POST", `/v2/${team.id}/calls/complete`, { batch: [call] })
  const obj = { project_id: team.id, object_id: "greeting", val: { text: "Hello" } }
  ;({ digest } = await heddle.send<{ digest: string }>("POST", "/obj/create", { obj }))
  await heddle.send("POST", `/v2/${team.id}/datasets`, { name: "answers", rows: [{ question: "2+2?" }] })
})
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true })
/** Where, a text of the page, what is offered to whoever may write, and what to whoever may label too. */
const places = [
  ["settings of the project", () => "/settings/project", "Delete the project", ["Change…", "Delete project…"], []],
  ["rules that score", () => "/settings/scoring", "No rules", ["New rule"], []],
  ["objects", () => "/objects", "greeting", ["Import"], []],
  ["a version", () => `/objects/greeting/versions/${digest}`, "Download", ["Alias…", "Tag…"], []],
  ["rows of a dataset", () => "/objects/answers/versions/latest?show=all", "2+2?", ["Add a row"], []],
  ["saved views", () => "/traces?q=op is answer", "answer", ["Save view"], []],
  ["feedback of a call", () => `/traces/${trace}?tab=feedback`, "Nobody has said anything", [], ["Good", "Save note"]],
] as const

test.each(places)(
  "%s: everybody is offered what their role may do",
  async (_what, path, sign, toWriters, toLabellers) => {
    const offered = async (as: Heddle) => {
      const { page, close } = await signedIn(browser, as, null)
      const asked = page.waitForResponse("**/annotation_queues/work")
      await page.goto(`${heddle.url}/${team.id}${path()}`)
      await page.getByText(sign).first().waitFor()
      await asked
      const found: string[] = []
      for (const name of [...toWriters, ...toLabellers]) {
        // Who may write sees them all: what is not offered has had the time to come.
        if (as === heddle) await button(page, name).waitFor()
        if ((await button(page, name).count()) > 0) found.push(name)
      }
      await close()
      return found
    }
    expect(await offered(heddle)).toEqual([...toWriters, ...toLabellers])
    expect(await offered(team.as.ann)).toEqual([...toLabellers])
    expect(await offered(team.as.vic)).toEqual([])
  },
)

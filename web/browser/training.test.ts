/** Models, their curves and steps, and training jobs, on a server that trains while the pages are open. */
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { foreign, launchBrowser, type Visit } from "./support/browser.ts"
import { flawsOfPages } from "./support/axe.ts"
import { childrenOf } from "../../server/test/support/server-process.ts"
import { fillProject, type FilledProject, startSft } from "./support/fill.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
let filled: FilledProject
beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle(), launchBrowser()])
  filled = await fillProject(heddle, "support", 3)
}, 180_000)
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const open = (path: string, options = {}) => signedIn(browser, heddle, `/${filled.id}${path}`, options)
const rowOf = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name })
const search = (page: Page) => new URL(page.url()).searchParams
const keys = (page: Page) => Object.fromEntries(search(page))

/** Complaints without the 401 of the one request that asks who is signed in, before anybody is. */
const complaintsOf = ({ complaints }: Visit) => complaints.filter((text) => !text.includes("401"))

async function drawn(page: Page, chart: string) {
  await page.getByRole("region", { name: chart, exact: true }).locator('[data-drawn="true"]').waitFor()
}

/** Where the area of a drawn chart lies, once all that moves it or draws it anew has come. */
async function areaOf(page: Page, chart: string) {
  await drawn(page, chart)
  await page.waitForLoadState("networkidle")
  const area = page.getByRole("region", { name: chart, exact: true }).locator(".u-over")
  await expect.poll(async () => (await area.boundingBox())?.width ?? 0).toBeGreaterThan(0)
  return (await area.boundingBox()) ?? expect.unreachable()
}

describe("models", () => {
  test("the list has the curve of each, where it stands, and leads to it", async () => {
    const visit = await open("/models")
    const row = rowOf(visit.page, "returns-agent")
    await row.getByRole("img", { name: /^reward of returns-agent: from [\d.]+ to [\d.]+$/ }).waitFor()
    expect(await row.getByRole("cell").allInnerTexts()).toEqual([
      expect.stringContaining("heddle/tiny"),
      "",
      expect.stringMatching(/^[\d.]+\s+reward$/),
      "3",
      expect.stringMatching(/\d/),
      "idle",
    ])
    expect(await rowOf(visit.page, "tone-judge").innerText()).toContain("not trained yet")
    await row.getByRole("link", { name: "returns-agent" }).click()
    await visit.page.waitForURL(`**/${filled.id}/models/returns-agent`)
    await drawn(visit.page, "Reward")
    expect([foreign(visit.requests, heddle.url), complaintsOf(visit)]).toEqual([[], []])
    await visit.close()
  })

  test("the page has curves of training; the enlarged one, smoothing, axis and other models are in the address", async () => {
    const { page, close } = await open("/models/returns-agent")
    for (const chart of ["Reward", "Loss", "Entropy", "Gradient norm", "Throughput"]) await drawn(page, chart)
    await page.getByLabel("Metric").selectOption("Gradient norm")
    await page.getByRole("button", { name: "Time" }).click()
    await page.getByLabel("Smoothing").fill("0.5")
    await page.getByLabel("Compare with").selectOption("tone-judge")
    const all = { metric: "grad_norm", x: "time", with: "tone-judge", smooth: "0.5" }
    await expect.poll(() => keys(page)).toEqual(all)
    await page.reload()
    await page.getByRole("img", { name: "Gradient norm of returns-agent, tone-judge by time" }).waitFor()
    expect(await page.getByLabel("Smoothing").inputValue()).toBe("0.5")
    await page.getByRole("button", { name: "Leave out tone-judge" }).click()
    await page.getByRole("link", { name: "Loss" }).click()
    await expect.poll(() => keys(page)).toEqual({ metric: "loss", x: "time", smooth: "0.5" })
    await close()
  })

  test("the axis of a curve has room for its longest label", async () => {
    const { page, close } = await open("/models/returns-agent")
    await drawn(page, "Rollouts that failed")
    const [place = 0, label = 0] = await page.evaluate<number[]>(`(() => {
      const writing = document.createElement("canvas").getContext("2d")
      writing.font = '11px "IBM Plex Sans Variable"'
      const chart = document.querySelector('section[aria-label="Rollouts that failed"] .u-over')
      return [chart.offsetLeft, writing.measureText("100.0\u202f%").width]
    })()`)
    expect(place).toBeGreaterThan(label + 4)
    await close()
  })

  test("the numbers of a curve are those that the server has", async () => {
    const { data } = await heddle.send<{ data: { name: string; id: string }[] }>(
      "GET",
      `/v1/preview/models?project=${filled.project}&name=returns-agent`,
    )
    const path = `/v1/preview/models/${data[0]?.id}/checkpoints`
    const { data: steps } = await heddle.send<{ data: { metrics: Record<string, number> }[] }>("GET", path)
    const { page, close } = await open("/models/returns-agent")
    await page.getByRole("button", { name: /^Show as a table: Reward of/ }).click()
    const shown = page.getByRole("region", { name: /^Reward of/ }).locator("tbody td")
    await expect
      .poll(() => shown.allInnerTexts())
      .toEqual(steps.slice(1).map(({ metrics }) => (metrics["train/reward"] ?? -1).toFixed(3)))
    await close()
  })

  test("the part that is shown is in the address, too", async () => {
    const { page, close } = await open("/models/returns-agent")
    const box = await areaOf(page, "Reward")
    await page.mouse.move(box.x + box.width * 0.1, box.y + 40)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.7, box.y + 40, { steps: 5 })
    await page.mouse.up()
    await expect.poll(() => Number(search(page).get("x1"))).toBeLessThan(3)
    await page.getByRole("button", { name: "Show all" }).click()
    await expect.poll(() => search(page).has("x1")).toBe(false)
    await close()
  })

  test("a click on a curve leads to the step that lies there, and back again", async () => {
    const { page, close } = await open("/models/returns-agent")
    const box = await areaOf(page, "Loss")
    // Of three steps the second.
    await page.mouse.click(box.x + box.width * 0.45, box.y + 30)
    await page.waitForURL("**/models/returns-agent/steps/2")
    await page.goBack()
    await page.getByText("drag to zoom, click for a step").waitFor()
    await page.getByRole("button", { name: "Time" }).click()
    await page.getByText("drag to zoom", { exact: true }).waitFor()
    await close()
  })

  test("a model that is not there says so, and where the others are", async () => {
    const { page, close } = await open("/models/nobody")
    await page.getByRole("heading", { name: "No such model" }).waitFor()
    await page.getByRole("link", { name: "All models" }).click()
    await rowOf(page, "returns-agent").waitFor()
    await close()
  })

  test("a project without models shows the lines that make one", async () => {
    await heddle.send("POST", "/v1/projects", { entity: "local", name: "bare" })
    const { page, close } = await signedIn(browser, heddle, "/local/bare/models")
    await page.getByRole("region", { name: "Code for a first model" }).getByText('project="bare"').waitFor()
    await close()
  })
})

/**
 * Stops or continues the engine's processes. An engine stopped for too long is replaced, and the new one resumes the
 * job.
 */
function signal(engine: readonly number[], name: "SIGSTOP" | "SIGCONT"): void {
  for (const pid of engine) {
    try {
      process.kill(pid, name)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error
    }
  }
}

/** `count` rows of training data: sums with their answers. */
const sums = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    messages: [
      { role: "user", content: `${index}+1=` },
      { role: "assistant", content: `${index + 1}` },
    ],
  }))

describe("jobs", () => {
  test("the list has every job with its state and step, and the reason of a failure", async () => {
    const { page, close } = await open("/jobs")
    await expect.poll(() => page.getByRole("row").filter({ hasText: "RL job of returns-agent" }).count()).toBe(3)
    expect(await rowOf(page, "RL job of returns-agent").first().innerText()).toMatch(
      /succeeded\s+RL job of returns-agent\s+1 of 1 gradient step\s+step 3/,
    )
    const section = page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Models & jobs" })
    expect(await section.getAttribute("aria-current")).toBe("page")
    await page.getByText("line 1 of the training data").waitFor()
    await page.getByRole("button", { name: "Failed" }).click()
    await page.waitForURL("**/jobs?state=failed")
    await expect.poll(() => rowOf(page, "RL job").count()).toBe(0)
    await page.getByRole("link", { name: "SFT job of tone-judge" }).click()
    await page.getByText("The job failed: no step was made, tone-judge stays where it was.").waitFor()
    await page.getByText("line 1 of the training data").waitFor()
    await close()
  })

  test("the page of a job that ended has its events, the figures of its data, and its step", async () => {
    const { page, close } = await open("/jobs?state=succeeded")
    await page.getByRole("link", { name: "RL job of returns-agent" }).first().click()
    const events = page.getByRole("grid", { name: "Events of the job" }).getByRole("row")
    await expect
      .poll(async () => (await events.allInnerTexts()).map((text) => text.split("\n")[1]))
      .toEqual(["Event", "ended, step made", "gradient step 1", "starts, 1 step"])
    const data = page.getByRole("region", { name: "Data" })
    await data.getByText("Trajectories", { exact: true }).waitFor()
    expect(await data.locator("dt:text-is('Trajectories') + dd").innerText()).toMatch(/^16/)
    await page.getByRole("link", { name: "step 3" }).waitFor()
    await close()
  })

  test("the page of a running job follows it to its end by itself, and its curves grow", async () => {
    const engine = await childrenOf(heddle)
    const id = await startSft(heddle, filled.project, "triage", sums(200))
    const done = async () =>
      (await heddle.send<{ gradient_steps: number }>("GET", `/v1/preview/training-jobs/${id}`)).gradient_steps
    await expect.poll(done, { interval: 20 }).toBeGreaterThan(1)
    // The engine is stopped while the page opens, because a job of a small model would end sooner.
    signal(engine, "SIGSTOP")
    const { page, close } = await open(`/jobs/${id}`)
    try {
      await page.getByText("running", { exact: true }).waitFor()
      await page.getByRole("region", { name: "Figures" }).getByText("of 100").waitFor()
      await drawn(page, "Loss")
      await page.getByText("Counted when the job ends.").waitFor()
    } finally {
      signal(engine, "SIGCONT")
    }
    await page.getByText("succeeded").waitFor()
    await page.getByRole("grid", { name: "Events of the job" }).getByText("ended, step made").waitFor()
    await page
      .getByRole("region", { name: "Data" })
      .locator("dt:text-is('Rows of the file') + dd:text-is('200')")
      .waitFor()
    await close()
  })

  test("a running job can be cancelled, after the page has said what is lost and what is kept", async () => {
    const engine = await childrenOf(heddle)
    const id = await startSft(heddle, filled.project, "stopped", sums(400))
    const job = () => heddle.send<{ status: string; gradient_steps: number }>("GET", `/v1/preview/training-jobs/${id}`)
    await expect.poll(async () => (await job()).gradient_steps, { interval: 20 }).toBeGreaterThan(1)
    signal(engine, "SIGSTOP")
    const { page, close } = await open(`/jobs/${id}`)
    try {
      const cancel = page.getByRole("button", { name: "Cancel job" })
      await cancel.click()
      const question = page.getByRole("dialog", { name: "Cancel the SFT job of stopped?" })
      await question.getByText(/^\d+ gradient steps? (is|are) lost; no step is made\./).waitFor()
      await question.getByText("Kept: stopped at step 0").waitFor()
      await question.getByRole("button", { name: "Leave it" }).click()
      expect((await job()).status).toBe("running")
      await cancel.click()
      await question.getByRole("button", { name: "Cancel job" }).click()
      await page.getByText("The job was cancelled: no step was made, stopped stays where it was.").waitFor()
      await page.getByText("cancelled by admin").waitFor()
      expect(await cancel.count()).toBe(0)
      expect((await job()).status).toBe("cancelled")
    } finally {
      signal(engine, "SIGCONT")
    }
    await close()
  })

  test("a running job can be paused, and goes on from where it was", { timeout: 150_000 }, async () => {
    const engine = await childrenOf(heddle)
    const id = await startSft(heddle, filled.project, "held-up", sums(200))
    const job = () => heddle.send<{ status: string; gradient_steps: number }>("GET", `/v1/preview/training-jobs/${id}`)
    await expect.poll(async () => (await job()).gradient_steps, { interval: 20 }).toBeGreaterThan(1)
    signal(engine, "SIGSTOP")
    const { page, close } = await open(`/jobs/${id}`)
    try {
      await page.getByRole("button", { name: "Pause job" }).click()
      await page.getByText("The job is paused.").waitFor()
      await page.getByText("paused", { exact: true }).waitFor()
      expect((await job()).status).toBe("paused")
    } finally {
      signal(engine, "SIGCONT")
    }
    await page.getByRole("button", { name: "Resume job" }).click()
    await page.getByText("succeeded").waitFor({ timeout: 90_000 })
    expect(await page.getByRole("button", { name: /^(Pause|Resume) job$/ }).count()).toBe(0)
    expect(await job()).toMatchObject({ status: "succeeded", gradient_steps: 100 })
    await close()
  })

  test("a job that is not there says so, and leads to the others", async () => {
    const id = "5f0c3a80-0000-4000-8000-000000000000"
    const { page, close } = await open(`/jobs/${id}`)
    await page.getByRole("heading", { name: "There is no such job" }).waitFor()
    await page.getByText(id, { exact: true }).waitFor()
    await page.getByRole("link", { name: "All jobs" }).click()
    await page.getByRole("table", { name: "Jobs" }).waitFor()
    await close()
  })
})

describe("one step", () => {
  test("its metrics beside the step before, the job that made it, and how to chat with it", async () => {
    const { page, close } = await open("/models/returns-agent")
    await page.getByRole("link", { name: "step 2" }).click()
    await page.waitForURL("**/models/returns-agent/steps/2")
    const reward = page
      .getByRole("table", { name: "Metrics of step 2" })
      .getByRole("row", { name: /Reward of rollouts/ })
    await reward.waitFor()
    expect(await reward.getByRole("cell").allInnerTexts()).toEqual([
      "Reward of rollouts",
      expect.stringMatching(/^[\d.]{5}$/),
      expect.stringMatching(/^[\d.]{5}$/),
      expect.stringMatching(/^([+\u2212][\d.]{5})?$/),
    ])
    const code = page.getByRole("region", { name: "Code that chats with this step" })
    await code.getByText(`"wandb-artifact:///${filled.id}/returns-agent:step2"`).waitFor()
    await page.getByRole("link", { name: "Open in playground" }).click()
    await page.getByRole("button", { name: "Take returns-agent@2 away" }).waitFor()
    await page.goBack()
    await page.getByRole("link", { name: "Next step" }).click()
    await page.waitForURL("**/steps/3")
    await page.getByRole("link", { name: "this job" }).click()
    await page.getByRole("heading", { name: "RL job of returns-agent" }).waitFor()
    await close()
  })

  test("it can be downloaded, as a tar file and file by file with digests", async () => {
    const { page, close } = await open("/models/returns-agent/steps/2")
    const saved = async (press: () => Promise<void>) => {
      const [download] = await Promise.all([page.waitForEvent("download"), press()])
      return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) }
    }
    const files = page.getByRole("region", { name: "Files" })
    const tar = await saved(() => files.getByRole("link", { name: /^Download tar/ }).click())
    expect(tar.name).toBe("returns-agent-step2.tar")
    // A tar header begins with the file's name and has its folder at byte 345.
    const folder = tar.bytes.subarray(345, 500).toString().replaceAll("\0", "")
    expect([folder, tar.bytes.indexOf("adapter_config.json")]).toEqual(["returns-agent-step2", 0])
    const row = rowOf(page, "adapter_model.safetensors")
    const one = await saved(() => row.getByRole("link").click())
    expect(one.name).toBe("adapter_model.safetensors")
    const digest = createHash("sha256").update(one.bytes).digest("hex")
    expect(await row.locator("code").getAttribute("title")).toBe(digest)
    await page.goto(`${heddle.url}/${filled.id}/models/returns-agent/steps/0`)
    await page.getByText("none: it is the base model itself").waitFor()
    expect(await files.count()).toBe(0)
    await close()
  })

  test("it can be deleted, after the page has said who notices; its metrics stay", async () => {
    const id = await startSft(heddle, filled.project, "short-lived", sums(4))
    const job = () => heddle.send<{ status: string; model_id: string }>("GET", `/v1/preview/training-jobs/${id}`)
    await expect.poll(async () => (await job()).status).toBe("succeeded")
    const { page, close } = await open("/models/short-lived/steps/1")
    await page.getByRole("button", { name: "Delete step 1" }).click()
    const question = page.getByRole("dialog", { name: "Delete step 1 of short-lived?" })
    await question.getByText("It is the newest step").waitFor()
    await question.getByRole("button", { name: "Delete step 1" }).click()
    await page.getByText('no step 1 of the model "short-lived": it was deleted').waitFor()
    await page.getByRole("table", { name: "Metrics of step 1" }).waitFor()
    const path = `/v1/preview/models/${(await job()).model_id}/checkpoints`
    const { data } = await heddle.send<{ data: { step: number }[] }>("GET", path)
    expect(data.map(({ step }) => step)).toEqual([0])
    await close()
  })

  test("a missing step says so, and a step that is no number is no page", async () => {
    const { page, close } = await open("/models/returns-agent/steps/77")
    await page.getByText(/no step 77 of the model "returns-agent": its newest step so far is 3/).waitFor()
    await page.goto(`${heddle.url}/${filled.id}/models/returns-agent/steps/last`)
    await page.getByRole("heading", { name: "No such page" }).waitFor()
    await page.goto(`${heddle.url}/${filled.id}/models/nobody/steps/1`)
    await page.getByRole("heading", { name: "No such model" }).waitFor()
    await close()
  })
})

test("base models: those that ship, with the models that grew from them", async () => {
  const { page, close } = await open("/base-models")
  const row = rowOf(page, "heddle/tiny")
  await row.getByText("ships with the server").waitFor()
  await row.getByRole("link", { name: "returns-agent" }).waitFor()
  await close()
})

test("base models: that none grew is not said while the models are not known, and of the newest where there are more", async () => {
  const { page, close } = await signedIn(browser, heddle, null)
  const models = (url: URL) => url.pathname === "/v1/preview/models"
  await page.route(models, (route) => route.fulfill({ status: 400, json: {} }))
  await page.goto(`${heddle.url}/${filled.id}/base-models`)
  const row = rowOf(page, "heddle/tiny")
  await row.getByText("not known").waitFor()
  await page.getByText("The models of this project could not be read.").waitFor()
  await page.unroute(models)
  await page.route(models, async (route) => {
    const answer = await route.fetch()
    await route.fulfill({ response: answer, json: { ...(await answer.json()), data: [], has_more: true } })
  })
  await page.getByRole("button", { name: "Try again" }).click()
  await page.getByRole("columnheader", { name: "Of the newest 100 models" }).waitFor()
  await row.getByText("none").waitFor()
  await close()
})

test("in both themes, wide and on a phone: nothing serious for axe, and nothing to scroll sideways", async () => {
  const { data } = await heddle.send<{ data: { id: string }[] }>(
    "GET",
    `/v1/preview/training-jobs?project=${filled.project}&status=succeeded`,
  )
  const { page, close } = await signedIn(browser, heddle, null)
  const pages = [
    ["/models", page.getByRole("link", { name: "returns-agent" })],
    ["/models/returns-agent?smooth=0.5&with=tone-judge", page.locator('[data-drawn="true"]').first()],
    ["/models/returns-agent/steps/2", page.getByRole("link", { name: "this job" })],
    ["/jobs", page.getByText("line 1 of the training data")],
    [`/jobs/${data.at(-1)?.id}`, page.getByRole("region", { name: "Data" }).locator("dt").first()],
    ["/base-models", page.getByText("ships with the server")],
  ] as const
  expect(await flawsOfPages(page, `${heddle.url}/${filled.id}`, pages)).toEqual({})
  await close()
}, 180_000)

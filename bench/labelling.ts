/** Measures labelling through the page by many annotators at once, each with a browser window and a keyboard. */
import { randomUUID } from "node:crypto"
import { setTimeout } from "node:timers/promises"
import { ensureChromium } from "../scripts/setup/chromium.mjs"
import { launchBrowser, newVisit, type Visit } from "../web/browser/support/browser.ts"
import { ENTITY, type HeddleServer, PROJECT, startHeddle } from "./harness/heddle-server.ts"
import { progress, quantile } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Items of the queue, each to be labelled once. */
  items: { type: "string", default: "500" },
  /** Annotators at once. */
  annotators: { type: "string", default: "20" },
  /** Milliseconds that an annotator looks at an item before the key. */
  pause: { type: "string", default: "4000" },
} as const

const PROJECT_ID = `${ENTITY}/${PROJECT}`

export async function run(given: Options): Promise<Findings> {
  const [items, annotators, pause] = [count(given, "items"), count(given, "annotators"), Number(given["pause"])]
  const chromium = await ensureChromium()
  if (chromium === null)
    throw new Error("this benchmark needs Chromium; install one and name it by HEDDLE_TEST_BROWSER")
  process.env["HEDDLE_TEST_BROWSER"] = chromium
  await using server = await startHeddle(temporaryFolder(), { engine: "none" })
  const queue = await fillQueue(server, items)
  const browser = await launchBrowser()
  try {
    const visits: Visit[] = []
    for (let n = 1; n <= annotators; n++) visits.push(await openQueue(await newVisit(browser), server, queue, n))
    progress(`${annotators} annotators are at work`)
    const began = performance.now()
    const waits = (await Promise.all(visits.map(({ page }) => label(page, pause)))).flat()
    const seconds = (performance.now() - began) / 1000
    await settled(server, queue, items)
    const { lost, doubled } = await audit(server, queue)
    const complaints = visits.flatMap((visit) => visit.complaints).filter((text) => !text.includes("401"))
    return {
      method: [
        `A queue of ${items} chats with one question of two options, one annotator to an item. ${annotators} annotators, each in a window of their own of one Chromium, look at each item for ${pause} ms, press 1 and Enter, until nothing is left.`,
        "The wait: from the browser's time of the Enter key to the first frame that shows the next item.",
        "At the end the labels are read through the API: each item must have one label that counts, and there must be no other.",
      ],
      versions: { chromium: browser.version() },
      settings: { items, annotators, pause },
      measurements: [
        measurement("labels", "labels/s", [items / seconds]),
        measurement("key to next item, median", "ms", [quantile(waits, 0.5)]),
        measurement("key to next item, p95", "ms", [quantile(waits, 0.95)]),
        measurement("key to next item, slowest", "ms", [quantile(waits, 1)]),
      ],
      bars: [
        atMost("p95 from key to next item", 80, quantile(waits, 0.95), "ms"),
        atMost("labels lost", 0, lost, "labels"),
        atMost("labels doubled", 0, doubled, "labels"),
        atMost("complaints of the pages", 0, complaints.length, "lines"),
      ],
      caveats: ["Server, browser and all its windows share the machine."],
    }
  } finally {
    await browser.close()
  }
}

async function fillQueue(server: HeddleServer, items: number): Promise<string> {
  const started_at = new Date().toISOString()
  const batch = Array.from({ length: items }, (_, index) => ({
    project_id: PROJECT_ID,
    id: randomUUID(),
    trace_id: randomUUID(),
    parent_id: null,
    op_name: "handle_ticket",
    started_at,
    ended_at: started_at,
    attributes: {},
    inputs: { messages: [{ role: "user", content: `Question ${index}: is it day 33, so no refund?` }] },
    output: { choices: [{ message: { role: "assistant", content: "No refund after **30 days**. ".repeat(20) } }] },
    summary: {},
  }))
  await server.post(`/v2/${PROJECT_ID}/calls/complete`, { batch })
  const val = { name: "tone", description: "", field_schema: { type: "string", enum: ["kind", "rude"] } }
  const obj = { project_id: PROJECT_ID, object_id: "tone", builtin_object_class: "AnnotationSpec", val }
  const { digest } = await server.post<{ digest: string }>("/obj/create", { obj })
  const { id } = await server.post<{ id: string }>("/annotation_queues", {
    project_id: PROJECT_ID,
    name: "bench",
    scorer_refs: [`weave:///${PROJECT_ID}/object/tone:${digest}`],
    required_annotators: 1,
  })
  const body = { project_id: PROJECT_ID, call_ids: batch.map((call) => call.id), display_fields: ["inputs", "output"] }
  await server.post(`/annotation_queues/${id}/items`, body)
  return id
}

/** Signs a new user in, and opens the queue until its first item is shown. */
async function openQueue(visit: Visit, server: HeddleServer, queue: string, n: number): Promise<Visit> {
  const username = `annotator-${n}`
  await server.post("/v1/organization/users", { username })
  await server.post(`/v1/organization/teams/${ENTITY}/members`, { username, role: "annotator" })
  const { value } = await server.post<{ value: string }>("/v1/organization/api_keys", { name: "bench", username })
  const { page } = visit
  await page.addInitScript(watchItems)
  const answer = await page.context().request.post(`${server.url}/v1/session`, {
    data: { api_key: value },
    headers: { origin: server.url, "x-heddle-csrf": "1" },
  })
  if (!answer.ok()) throw new Error(`POST /v1/session: ${answer.status()}`)
  await page.goto(`${server.url}/${PROJECT_ID}/queues/${queue}/label`)
  await page.locator("[data-item]").waitFor()
  return visit
}

/** Script of the page that notes the times from pressing Enter to the frame that shows the next item. */
const watchItems = `
  window.waits = []
  window.shown = null
  let pressed = null
  addEventListener("keydown", (event) => { if (event.key === "Enter") pressed = event.timeStamp }, true)
  new MutationObserver(() => {
    const item = document.querySelector("[data-item]")?.dataset.item ?? null
    if (item === window.shown) return
    const from = window.shown === null ? null : pressed
    window.shown = item
    pressed = null
    if (from !== null && item !== null) requestAnimationFrame(() => window.waits.push(performance.now() - from))
  }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-item"] })
`

/** Labels until nothing is left; returns the waits for the next item in milliseconds. */
async function label(page: Visit["page"], pause: number): Promise<number[]> {
  // Annotators do not all begin at the same instant.
  await setTimeout(Math.random() * pause)
  for (;;) {
    const item = await page.evaluate<string | null>("window.shown")
    if (item === null) {
      if ((await page.getByText("Nothing to label for you now").count()) > 0) break
      await setTimeout(100)
      continue
    }
    await page.keyboard.press("1")
    await page.keyboard.press("Enter")
    await setTimeout(pause)
  }
  return page.evaluate<number[]>("window.waits")
}

/** Waits until the server has every label, since pages send them after showing the next item. */
async function settled(server: HeddleServer, queue: string, items: number): Promise<void> {
  for (let left = 100; left > 0; left--) {
    const { queues } = await server.post<{ queues: { items: { finished: number } }[] }>("/annotation_queues/work", {
      project_id: PROJECT_ID,
      queue_ids: [queue],
    })
    if (queues[0]?.items.finished === items) return
    await setTimeout(100)
  }
}

async function audit(server: HeddleServer, queue: string): Promise<{ lost: number; doubled: number }> {
  const body = { project_id: PROJECT_ID, limit: 1000 }
  let [lost, doubled, items] = [0, 0, 0]
  let after: string | null = null
  do {
    const page: { items: { labels: unknown[] }[]; next_after: string | null } = await server.post(
      `/annotation_queues/${queue}/labels/query`,
      { ...body, after },
    )
    items += page.items.length
    lost += page.items.filter(({ labels }) => labels.length === 0).length
    doubled += page.items.filter(({ labels }) => labels.length > 1).length
    after = page.next_after
  } while (after !== null)
  const { total_count: stored } = await server.post<{ total_count: number }>("/feedback/query", {
    project_id: PROJECT_ID,
    query: { $expr: { $eq: [{ $getField: "queue_id" }, { $literal: queue }] } },
    fields: ["id"],
    limit: 1,
  })
  return { lost, doubled: doubled + Math.max(0, stored - (items - lost)) }
}

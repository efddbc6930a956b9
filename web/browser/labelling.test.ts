/** Labelling by keyboard, alone and together, also when a queue, a lease or a right ends under the page. */
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { flaws } from "./support/axe.ts"
import { foreign, launchBrowser, phone, type Visit } from "./support/browser.ts"
import { fillLabelTeam, labelsOf, type LabelTeam, newQueue, newSpec, sendChats, suggest } from "./support/fill-queue.ts"
import { type Heddle, signedIn, signIn, startHeddle } from "./support/heddle.ts"

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

type Person = "admin" | keyof LabelTeam["as"]
const open = (person: Person, path: string, options = {}) =>
  signedIn(browser, person === "admin" ? heddle : team.as[person], `/${team.id}${path}`, options)
const label = (person: Person, queue: string, keys = "", options = {}) =>
  open(person, `/queues/${queue}/label${keys}`, options)
const complaintsOf = ({ complaints }: Visit) => complaints.filter((text) => !/40[0-9]/.test(text))
const content = (page: Page) => page.getByRole("region", { name: "Item", exact: true })
const option = (page: Page, name: string) => page.getByRole("radio", { name })
const searchOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams)
const valuesOf = async (queue: string) =>
  (await labelsOf(heddle, team.id, queue)).map(({ labels }) => labels.map(({ value }) => value))

/** Values of every label of a queue, also of items that are not finished. */
async function storedIn(queue: string): Promise<unknown[]> {
  const { result } = await heddle.send<{ result: { payload: { value: unknown } }[] }>("POST", "/feedback/query", {
    project_id: team.id,
    fields: ["payload"],
    query: { $expr: { $eq: [{ $getField: "queue_id" }, { $literal: queue }] } },
  })
  return result.map(({ payload }) => payload.value)
}

/** Ben asks for the next item until the lease of somebody else has ended. */
async function takenByBen(queue: string): Promise<void> {
  const wanted = { project_id: team.id, lease_seconds: 600 }
  for (;;) {
    const path = `/annotation_queues/${queue}/items/next`
    const { item } = await team.as.ben.send<{ item: object | null }>("POST", path, wanted)
    if (item !== null) return
  }
}

/** Waits for the item whose text has this number. */
const inHand = (page: Page, number: number) => content(page).getByText(`(${number})`).waitFor()

describe("a queue from a selection of traces", () => {
  test("rows are selected, a question is written, and the queue is there with its items", async () => {
    await heddle.send("POST", "/v1/projects", { entity: team.entity, name: "fresh" })
    await sendChats(heddle, `${team.entity}/fresh`, 3)
    const { page, close } = await signedIn(browser, heddle, `/${team.entity}/fresh/queues`)
    await page.getByText("No queues yet").waitFor()
    await page.getByRole("link", { name: "Choose calls in Traces" }).click()
    await page.getByText("handle_ticket").first().waitFor()
    for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key)
    await page.getByText("2 selected").waitFor()
    await page.getByRole("link", { name: "Add to queue" }).click()
    await page.getByText("2 selected calls.").waitFor()
    await page.getByRole("button", { name: "Make the queue" }).click()
    await page.getByText("Choose a question, or write one.").waitFor()
    await page.getByLabel("Name", { exact: true }).fill("Refunds")
    await page.getByRole("button", { name: "New question" }).click()
    await page.getByLabel("Question", { exact: true }).fill("Is it right?")
    await page.getByLabel("Answered by").selectOption("Yes or no")
    // A second one of the same object's name would be a version of the first.
    await page.getByRole("button", { name: "New question" }).click()
    await page.getByLabel("Question", { exact: true }).nth(1).fill("Is it right!")
    await page.getByLabel("Answered by").nth(1).selectOption("Text")
    await page.getByRole("button", { name: "Make the queue" }).click()
    await page.getByText("“Is it right?” above has this name already.").waitFor()
    await page.getByRole("button", { name: "Leave the question Is it right! out" }).click()
    await page.getByRole("button", { name: "Make the queue" }).click()
    await page.getByText("0 of 2 items finished").waitFor()
    await page.getByRole("link", { name: "Label", exact: true }).click()
    await page.getByRole("radiogroup", { name: "Is it right?" }).waitFor()
    await close()
  })

  test("a filter says how many match, and so many of the newest can be taken", async () => {
    await sendChats(heddle, team.id, 3, "other_op")
    const { page, close } = await open("admin", "/queues/new?q=op is other_op")
    await page.getByText(/^3 calls match/).waitFor()
    await page.getByLabel("How many, the newest first").fill("one")
    await page.getByText("This is no whole number from 1 on.").waitFor()
    await page.getByRole("checkbox", { name: "tone" }).check()
    await page.getByRole("button", { name: "Make the queue" }).click()
    expect(new URL(page.url()).pathname).toMatch(/\/queues\/new$/)
    await page.getByRole("checkbox", { name: "tone" }).uncheck()
    await page.getByLabel("How many, the newest first").fill("1")
    await page.getByLabel("Name", { exact: true }).fill("One of them")
    await page.getByRole("checkbox", { name: "tone" }).check()
    await page.getByRole("button", { name: "Make the queue" }).click()
    await page.getByText("0 of 1 item finished").waitFor()
    await close()
  })
})

test("whoever does not wait for the count of a filter gets what it finds", async () => {
  await sendChats(heddle, team.id, 3, "hasty_op")
  const { page, close } = await open("admin", "/queues/new?q=op is hasty_op")
  await page.getByText(/^3 calls match/).waitFor()
  await page.route("**/calls/query_stats", () => undefined)
  await page.reload()
  await page.getByText("Counting the calls…").waitFor()
  await page.getByLabel("Name", { exact: true }).fill("In a hurry")
  await page.getByRole("checkbox", { name: "tone" }).check()
  await page.getByRole("button", { name: "Make the queue" }).click()
  await page.getByText("0 of 3 items finished").waitFor()
  await close()
})

test("settings that are stored twice in a hurry have their new question once; a click beside them closes nothing", async () => {
  const { id } = await newQueue(heddle, team, 1)
  const { page, close } = await open("admin", `/queues/${id}?dialog=settings`)
  const dialog = page.getByRole("dialog", { name: "Queue settings" })
  await dialog.getByRole("button", { name: "New question" }).click()
  await dialog.getByLabel("Question", { exact: true }).fill("In a hurry?")
  await dialog.getByLabel("Answered by").selectOption("Yes or no")
  await page.mouse.click(4, 4)
  expect(await dialog.getByLabel("Question", { exact: true }).inputValue()).toBe("In a hurry?")
  await page.route("**/obj/create", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 300))
    await route.continue()
  })
  const made: string[] = []
  page.on("request", (request) => {
    if (request.url().endsWith("/obj/create")) made.push(request.url())
  })
  await page.evaluate(`(() => {
    const form = document.querySelector("[role=dialog] form")
    form.requestSubmit()
    setTimeout(() => form.requestSubmit(), 50)
  })()`)
  await dialog.waitFor({ state: "hidden" })
  expect(made).toHaveLength(1)
  await close()
})

describe("one item after the other, by keyboard", () => {
  test("two people label a queue; each item has a label of both, and nothing is complained of", async () => {
    const { id } = await newQueue(heddle, team, 4, { required_annotators: 2, scorer_refs: [team.tone, team.warm] })
    const visits = await Promise.all([label("ann", id), label("ben", id)])
    for (const [index, { page }] of visits.entries()) {
      for (let number = 1; number <= 4; number += 1) {
        await inHand(page, number)
        // An answer to the tone moves the focus to the next question; Enter submits once all questions are answered.
        await page.keyboard.press(index === 1 && number === 2 ? "3" : "1")
        await page.keyboard.press("4")
        await page.keyboard.press("Enter")
      }
      await page.getByText("Nothing to label for you now").waitFor()
    }
    await expect
      .poll(() => valuesOf(id))
      .toEqual([1, 2, 3, 4].map((number) => ["kind", 4, number === 2 ? "rude" : "kind", 4]))
    expect(visits.flatMap(({ requests }) => foreign(requests, heddle.url))).toEqual([])
    expect(visits.flatMap(complaintsOf)).toEqual([])
    await Promise.all(visits.map((visit) => visit.close()))
  })

  test("the next three are read before they are asked for", async () => {
    const { id } = await newQueue(heddle, team, 5)
    const { page, requests, close } = await label("ann", id)
    await inHand(page, 1)
    const reads = () => requests.filter((request) => request.endsWith("/calls/stream_query")).length
    await expect.poll(reads).toBe(4)
    await page.getByText("already loaded").waitFor()
    await page.context().setOffline(true)
    await page.keyboard.press("1")
    await page.keyboard.press("Enter")
    await inHand(page, 2)
    await page.getByText("1 item waits to be sent; it is kept on this device.").waitFor()
    await page.context().setOffline(false)
    await expect.poll(() => valuesOf(id)).toEqual([["kind"], [], [], [], []])
    await page.getByText("waits to be sent").waitFor({ state: "detached" })
    await close()
  })

  test("Enter on the lid of the note closes the note, and sends nothing", async () => {
    const { id } = await newQueue(heddle, team, 2)
    const { page, close } = await label("ann", id)
    await inHand(page, 1)
    await page.keyboard.press("1")
    await page.locator("summary", { hasText: "Note" }).focus()
    await page.keyboard.press("Enter")
    await page.getByRole("textbox", { name: "Note" }).waitFor({ state: "hidden" })
    expect(await valuesOf(id)).toEqual([[], []])
    await close()
  })

  test("what is done counts at once, also while the server does not say how far the queue is", async () => {
    const { id } = await newQueue(heddle, team, 4)
    const { page, close } = await label("ann", id)
    await inHand(page, 1)
    await page.getByText("you: 0 done, 4 left for you").waitFor()
    await page.route("**/annotation_queues/work", () => undefined)
    for (const number of [1, 2]) {
      await inHand(page, number)
      await page.keyboard.press("1")
      await page.keyboard.press("Enter")
    }
    await expect.poll(() => valuesOf(id)).toEqual([["kind"], ["kind"], [], []])
    await page.getByText("you: 2 done, 2 left for you").waitFor()
    await page.unroute("**/annotation_queues/work")
    await page.keyboard.press("z")
    await inHand(page, 2)
    await page.getByText("you: 1 done, 3 left for you").waitFor()
    await close()
  })

  test("what was sent, and what was skipped, is taken back, one after the other", async () => {
    const { id } = await newQueue(heddle, team, 3)
    const { page, close } = await label("ann", id)
    await inHand(page, 1)
    await page.keyboard.press("3")
    await page.keyboard.press("Enter")
    await inHand(page, 2)
    await page.keyboard.press("s")
    await page.getByLabel("Why it is skipped").fill("in Polish")
    await page.keyboard.press("Enter")
    await inHand(page, 3)
    await page.getByText("The one before: skipped: in Polish. Stored").waitFor()
    await page.keyboard.press("z")
    await inHand(page, 2)
    await page.keyboard.press("z")
    await inHand(page, 1)
    expect(await option(page, "rude").getAttribute("aria-checked")).toBe("true")
    await page.keyboard.press("1")
    await page.keyboard.press("Control+Enter")
    await inHand(page, 2)
    await expect.poll(() => valuesOf(id)).toEqual([["kind"], [], []])
    await close()
    const lead = await open("admin", `/queues/${id}`)
    await lead.page.getByRole("region", { name: "Notes of annotators" }).getByText("Skipped: in Polish").waitFor()
    await lead.close()
  })

  test("a draft is there after a reload, with its note; the item and the question are in the address", async () => {
    const { id } = await newQueue(heddle, team, 2, { scorer_refs: [team.tone, team.warm] })
    const { page, close } = await label("ann", id)
    await inHand(page, 1)
    await page.keyboard.press("2")
    await page.keyboard.press("n")
    await page.keyboard.type("half a sentence")
    await expect.poll(() => searchOf(page)["field"]).toBe("warm")
    expect(searchOf(page)["item"]).toMatch(/^[\da-f-]{36}$/)
    await page.reload()
    await inHand(page, 1)
    await expect.poll(() => option(page, "neutral").getAttribute("aria-checked")).toBe("true")
    expect(await page.getByRole("textbox", { name: "Note" }).inputValue()).toBe("half a sentence")
    // The key answers the question that the address names, which has the focus.
    await page.keyboard.press("5")
    await page.keyboard.press("Enter")
    await inHand(page, 2)
    await expect.poll(() => valuesOf(id)).toEqual([["neutral", 5], []])
    await close()
  })

  test("an address that names something else as its item changes nothing by it, and the next item is in hand", async () => {
    const [{ id }, { id: other }] = [await newQueue(heddle, team, 1), await newQueue(heddle, team, 1)]
    const item = encodeURIComponent(`../../${other}?`)
    const { page, requests, close } = await label("admin", id, `?item=${item}`)
    await inHand(page, 1)
    expect(requests.filter((url) => url.includes(other) && !url.includes("/label?"))).toEqual([
      `${heddle.url}/annotation_queues/${id}/items/${encodeURIComponent(`../../${other}?`)}/lease`,
    ])
    await close()
  })

  test("an option null is chosen and stored as any other", async () => {
    const spec = { name: "verdict", description: "", field_schema: { enum: ["good", "bad", null] } }
    const { id } = await newQueue(heddle, team, 1, { scorer_refs: [await newSpec(heddle, team.id, spec)] })
    const { page, close } = await label("ann", id)
    await inHand(page, 1)
    await page.keyboard.press("3")
    await page.keyboard.press("Enter")
    await page.getByText("Nothing to label for you now").waitFor()
    await expect.poll(() => valuesOf(id)).toEqual([[null]])
    await close()
  })

  test("objects 6.2: a question that its queue names as a scorer is asked and answered", async () => {
    const { id } = await newQueue(heddle, team, 1, { scorer_refs: [team.tone.replace("/object/", "/scorer/")] })
    const { page, close } = await label("ann", id)
    await inHand(page, 1)
    await page.keyboard.press("1")
    await page.keyboard.press("Control+Enter")
    await page.getByText("Nothing to label for you now").waitFor()
    await expect.poll(() => valuesOf(id)).toEqual([["kind"]])
    await close()
  })

  test("keys do nothing while somebody types, and digits mean the question in focus", async () => {
    const why = await newSpec(heddle, team.id, { name: "why", description: "", field_schema: { type: "string" } })
    const { id } = await newQueue(heddle, team, 1, { scorer_refs: [team.tone, why] })
    const { page, close } = await label("ann", id)
    await inHand(page, 1)
    await page.keyboard.press("1")
    await page.getByRole("textbox", { name: "why" }).waitFor()
    await page.keyboard.type("s z 2 n")
    expect(await page.getByRole("textbox", { name: "why" }).inputValue()).toBe("s z 2 n")
    await page.keyboard.press("Control+Enter")
    await page.getByText("Nothing to label for you now").waitFor()
    await expect.poll(() => valuesOf(id)).toEqual([["kind", "s z 2 n"]])
    await close()
  })
})

describe("what a machine suggests", () => {
  test("is hidden while blind, with the model; seen, it is marked, and whether it was taken is counted", async () => {
    const { id, calls } = await newQueue(heddle, team, 2)
    for (const call of calls) await suggest(heddle, team.id, call, { tone: "rude", confidence: 0.83 })
    const { page, close } = await label("ann", id, "?blind=on")
    await inHand(page, 1)
    expect(await page.getByText("judge 0.83").count()).toBe(0)
    expect(await content(page).getByText("returns-agent:step42").count()).toBe(0)
    await page.keyboard.press("1")
    await page.keyboard.press("b")
    await content(page).getByText("returns-agent:step42").waitFor()
    await option(page, "rude").getByText("judge 0.83").waitFor()
    expect(await option(page, "rude").getAttribute("aria-checked")).toBe("false")
    await expect.poll(() => searchOf(page)["blind"]).toBe("off")
    await page.keyboard.press("Enter")
    await inHand(page, 2)
    // A label that is chosen before the suggestion is shown does not count as taken.
    await option(page, "rude").getByText("judge 0.83").waitFor()
    await page.keyboard.press("3")
    await page.keyboard.press("Enter")
    await page.getByText("Nothing to label for you now").waitFor()
    await page.getByRole("link", { name: "See how far it is" }).click()
    const row = page.getByRole("table", { name: "Agreement by question" }).getByRole("row", { name: /tone/ })
    await row.getByText("1 of 2").waitFor()
    await close()
  })

  test("labels of others are seen only where it is not blind", async () => {
    const { id } = await newQueue(heddle, team, 1, { required_annotators: 2 })
    const first = await label("ann", id)
    await inHand(first.page, 1)
    await first.page.keyboard.press("3")
    await first.page.keyboard.press("Enter")
    await expect.poll(() => valuesOf(id)).toEqual([["rude"]])
    await first.close()
    const { page, close } = await label("ben", id)
    await inHand(page, 1)
    expect(await page.getByText("chosen by ann").count()).toBe(0)
    await page.getByRole("button", { name: "Blind" }).click()
    await page.getByText("chosen by ann").waitFor({ state: "attached" })
    await close()
  })
})

test("several at once: one key labels the selection, Enter sends it", async () => {
  const { id } = await newQueue(heddle, team, 5)
  const { page, close } = await label("ann", id)
  await inHand(page, 1)
  await page.keyboard.press("v")
  const rows = page.getByRole("list", { name: "Items in your hands" }).getByRole("listitem")
  await expect.poll(() => rows.count()).toBe(5)
  await expect.poll(() => searchOf(page)["view"]).toBe("bulk")
  for (const key of ["x", "j", "j", "x", "3", "Enter"]) await page.keyboard.press(key)
  await expect.poll(() => rows.count()).toBe(3)
  for (const key of ["a", "1", "Enter"]) await page.keyboard.press(key)
  await page.getByText("Nothing to label for you now").waitFor()
  await expect.poll(() => valuesOf(id)).toEqual([["rude"], ["kind"], ["rude"], ["kind"], ["kind"]])
  await close()
})

test("several at once: what was begun stays with whoever is at work, every row of it", async () => {
  const { id } = await newQueue(heddle, team, 3, { required_annotators: 1 })
  const { page, close } = await label("ann", id)
  await inHand(page, 1)
  await page.keyboard.press("v")
  const rows = page.getByRole("list", { name: "Items in your hands" }).getByRole("listitem")
  await expect.poll(() => rows.count()).toBe(3)
  const begun = page.waitForResponse((answer) => answer.url().includes("/progress"))
  for (const key of ["a", "1"]) await page.keyboard.press(key)
  await begun
  const asked = (more: object) =>
    team.as.ben.send<{ item: object | null }>("POST", `/annotation_queues/${id}/items/next`, {
      project_id: team.id,
      ...more,
    })
  await expect
    .poll(async () => (await labelsOf(heddle, team.id, id)).map(({ item }) => item.annotation_state))
    .toEqual(["unstarted", "in_progress", "in_progress"])
  expect((await asked({ ahead: 3 })).item).toBeNull()
  await page.keyboard.press("Enter")
  await page.getByText("Nothing to label for you now").waitFor()
  await expect.poll(() => valuesOf(id)).toEqual([["kind"], ["kind"], ["kind"]])
  await close()
})

test("from a disagreement to the final label, and back", async () => {
  const { id } = await newQueue(heddle, team, 3, { required_annotators: 2 })
  for (const [person, keys] of [
    ["ann", "113"],
    ["ben", "131"],
  ] as const) {
    const { page, close } = await label(person, id)
    for (const [index, key] of keys.split("").entries()) {
      await inHand(page, index + 1)
      await page.keyboard.press(key)
      await page.keyboard.press("Enter")
    }
    await page.getByText("Nothing to label for you now").waitFor()
    await expect.poll(async () => (await valuesOf(id)).flat().length).toBe(person === "ann" ? 3 : 6)
    await close()
  }
  const { page, close } = await open("admin", `/queues/${id}`)
  await page.getByText("3 of 3 items finished").waitFor()
  const people = page.getByRole("table", { name: /^Annotators/ })
  await expect.poll(() => people.getByRole("row", { name: /ann/ }).innerText()).toMatch(/ann\s.*3\s+0\s+33\s%\s+33\s%/s)
  const agreement = page.getByRole("table", { name: "Agreement by question" }).getByRole("row", { name: /tone/ })
  // By hand: 1 of 3 equal, chance (2·2 + 1·1)/9.
  await expect.poll(() => agreement.innerText()).toMatch(/tone\s+3\s+33\s%\s+−\.50/)
  await page.getByText("2 to decide").waitFor()
  const pane = page.getByRole("region", { name: "Decide: tone" })
  await pane.getByText("(2)").waitFor()
  await pane.getByRole("button", { name: "kind, as ann" }).waitFor()
  await page.keyboard.press("2")
  await page.getByText("1 to decide").waitFor()
  await pane.getByText("(3)").waitFor()
  await page.keyboard.press("3")
  await pane.getByRole("button", { name: "neutral", exact: true }).click()
  await page.getByText("Nothing to decide: nobody disagrees, or all of it is decided.").waitFor()
  const finals = async () => (await labelsOf(heddle, team.id, id)).map(({ final_labels: [one] }) => one?.value ?? null)
  expect(await finals()).toEqual([null, "rude", "neutral"])
  await page.getByRole("button", { name: "Decided", exact: true }).click()
  await pane.getByText(/^Decided: rude/).waitFor()
  // The keys of the buttons that are not there decide nothing.
  const sent: string[] = []
  page.on("request", (request) => request.method() !== "GET" && sent.push(request.url()))
  for (const key of ["1", "3"]) await page.keyboard.press(key)
  await pane.getByText(/^Decided: rude/).waitFor()
  expect(await finals()).toEqual([null, "rude", "neutral"])
  expect(sent.filter((url) => url.includes("/final_labels/"))).toEqual([])
  await pane.getByRole("button", { name: "Take the decision back" }).click()
  await page.getByText("1 decided").waitFor()
  expect(await finals()).toEqual([null, null, "neutral"])
  await close()
})

test("a dispute about any number of words is decided with those of the question, at least one", async () => {
  const topics = await newSpec(heddle, team.id, {
    name: "topics",
    description: "What it is about.",
    field_schema: { type: "array", items: { type: "string", enum: ["refund", "size", "praise"] } },
  })
  const { id } = await newQueue(heddle, team, 1, { required_annotators: 2, scorer_refs: [topics] })
  for (const [person, key] of [
    ["ann", "1"],
    ["ben", "2"],
  ] as const) {
    const { page, close } = await label(person, id)
    await inHand(page, 1)
    for (const one of [key, "Enter"]) await page.keyboard.press(one)
    await page.getByText("Nothing to label for you now").waitFor()
    await expect.poll(async () => (await valuesOf(id)).flat().length).toBe(person === "ann" ? 1 : 2)
    await close()
  }
  const { page, close } = await open("admin", `/queues/${id}`)
  const pane = page.getByRole("region", { name: "Decide: topics" })
  await pane.getByRole("button", { name: "Other…" }).click()
  const decide = pane.getByRole("button", { name: "Decide", exact: true })
  const words = pane.getByRole("group", { name: "Another value for topics" })
  expect(await decide.isDisabled()).toBe(true)
  for (const word of ["praise", "size", "refund", "size"]) await words.getByRole("button", { name: word }).click()
  await decide.click()
  await page.getByText("Nothing to decide: nobody disagrees, or all of it is decided.").waitFor()
  expect((await labelsOf(heddle, team.id, id)).map(({ final_labels: finals }) => finals[0]?.value)).toEqual([
    ["refund", "praise"],
  ])
  await close()
})

test("a question without a dispute says so, and leads back to those of the others", async () => {
  const { id } = await newQueue(heddle, team, 2, { required_annotators: 2, scorer_refs: [team.tone, team.warm] })
  for (const [person, answers] of [
    ["ann", ["11", "11"]],
    ["ben", ["31", "13"]],
  ] as const) {
    const { page, close } = await label(person, id)
    for (const [index, keys] of answers.entries()) {
      await inHand(page, index + 1)
      for (const key of keys) await page.keyboard.press(key)
      await page.keyboard.press("Enter")
    }
    await page.getByText("Nothing to label for you now").waitFor()
    await expect.poll(async () => (await valuesOf(id)).flat().length).toBe(person === "ann" ? 4 : 8)
    await close()
  }
  const { page, close } = await open("admin", `/queues/${id}`)
  const question = page.getByRole("group", { name: "Question" })
  await question.getByText("tone 1").click()
  await page.getByRole("region", { name: "Decide: tone" }).getByRole("button", { name: "kind, as ann" }).waitFor()
  await page.keyboard.press("1")
  await page.getByText("Nothing of the question tone here.").waitFor()
  await question.getByText("All 1").click()
  await page.getByRole("region", { name: "Decide: warm" }).waitFor()
  expect(searchOf(page)["field"]).toBeUndefined()
  await close()
})

describe("when something goes wrong", () => {
  test("two people at the last item: one has it, the other is told why there is none", async () => {
    const { id } = await newQueue(heddle, team, 1)
    const first = await label("ann", id)
    await inHand(first.page, 1)
    const second = await label("ben", id)
    await second.page.getByText("1 in other hands, which may come back").waitFor()
    await first.page.keyboard.press("1")
    await first.page.keyboard.press("Enter")
    await first.page.getByText("Nothing to label for you now").waitFor()
    await first.close()
    await second.close()
  })

  test("a lease that ended while somebody typed: who has it now, and the draft is kept", async () => {
    const { id } = await newQueue(heddle, team, 2, { required_annotators: 1, lease_seconds: 1 })
    const { page, close } = await label("ann", id)
    await inHand(page, 1)
    await page.getByText("Your time is over; any key asks for it again").waitFor()
    await takenByBen(id)
    await page.keyboard.press("3")
    await page.getByText("Somebody else has this item now.").waitFor()
    expect(await option(page, "rude").getAttribute("aria-checked")).toBe("true")
    expect(await option(page, "rude").isDisabled()).toBe(true)
    await page.getByRole("button", { name: "Next item" }).click()
    await inHand(page, 2)
    await close()
  })

  test("the key that submits stores nothing of an item that went to somebody else while nobody was there", async () => {
    const { id } = await newQueue(heddle, team, 2, { required_annotators: 1, lease_seconds: 1 })
    const { page, close } = await label("ann", id)
    await inHand(page, 1)
    await page.keyboard.press("3")
    await page.getByText("Your time is over; any key asks for it again").waitFor()
    await takenByBen(id)
    await page.keyboard.press("Control+Enter")
    await page.getByText("“rude” was not stored.").waitFor()
    expect(await storedIn(id)).toEqual([])
    await close()
  })

  test("several at once: a row that somebody else has now is left out of what keys do", async () => {
    const { id } = await newQueue(heddle, team, 2, { required_annotators: 1, lease_seconds: 1 })
    const { page, close } = await label("ann", id, "?view=bulk")
    const rows = page.getByRole("list", { name: "Items in your hands" }).getByRole("listitem")
    await expect.poll(() => rows.count()).toBe(2)
    await takenByBen(id)
    await page.keyboard.press("3")
    await page.getByText("Somebody else has the first of these items now.").waitFor()
    for (const key of ["a", "1", "Enter"]) await page.keyboard.press(key)
    await expect.poll(() => rows.count()).toBe(1)
    await page.keyboard.press("Enter")
    await page.getByText("Nothing to label for you now").waitFor()
    expect(await storedIn(id)).toEqual(["kind"])
    await close()
  })

  test("whoever signs in for somebody else sends nothing of theirs under the own name", async () => {
    const { id } = await newQueue(heddle, team, 2)
    const { page, close } = await label("ann", id)
    await inHand(page, 1)
    const another = await page.context().newPage()
    await another.goto(page.url())
    await inHand(another, 1)
    const { data } = await team.as.ann.send<{ data: { id: string }[] }>("GET", "/v1/sessions")
    for (const session of data) await team.as.ann.send("DELETE", `/v1/sessions/${session.id}`)
    await page.keyboard.press("3")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Sign in again" }).waitFor()
    await page.evaluate("sessionStorage.setItem('draft', 'of ann')")
    const anew = [page, another].map((one) => one.waitForEvent("load"))
    await Promise.all([...anew, signIn(page, team.as.ben.key)])
    await expect.poll(() => page.evaluate("sessionStorage.getItem('draft')")).toBeNull()
    await another.close()
    await inHand(page, 2)
    await page.keyboard.press("1")
    await page.keyboard.press("Enter")
    await expect.poll(() => valuesOf(id)).toEqual([[], ["kind"]])
    await close()
  })

  test("a queue that is deleted while it is labelled says so, and keeps what was not sent", async () => {
    const { id } = await newQueue(heddle, team, 2)
    const { page, close } = await label("ann", id)
    await inHand(page, 1)
    await heddle.send("DELETE", `/annotation_queues/${id}?project_id=${encodeURIComponent(team.id)}`)
    await page.keyboard.press("1")
    await page.keyboard.press("Enter")
    await page.getByText("The queue was deleted while it was open").waitFor()
    await page.getByText("The server does not know the queue any more.").waitFor()
    await page.getByRole("button", { name: "Copy what you had not sent" }).waitFor()
    await page.getByRole("link", { name: "Other queues" }).click()
    await page.getByRole("heading", { name: "Labelling" }).waitFor()
    await close()
  })

  test("what the server refuses stands there with its request's id, and can be opened again", async () => {
    const spec = { name: "fleeting", description: "", field_schema: { type: "boolean" } }
    const ref = await newSpec(heddle, team.id, spec)
    const { id } = await newQueue(heddle, team, 2, { scorer_refs: [ref] })
    const { page, close } = await label("ann", id)
    await inHand(page, 1)
    await heddle.send("POST", "/obj/delete", { project_id: team.id, object_id: "fleeting", digests: null })
    await page.keyboard.press("1")
    await page.keyboard.press("Enter")
    await page.getByText("“yes” was not stored.").waitFor()
    await page.getByText(/^request/).waitFor()
    await newSpec(heddle, team.id, spec)
    await page.getByRole("button", { name: "Open it again" }).click()
    await inHand(page, 1)
    expect(await option(page, "yes").getAttribute("aria-checked")).toBe("true")
    await page.keyboard.press("Enter")
    await expect.poll(() => valuesOf(id)).toEqual([[true], []])
    await close()
  })

  test("a viewer sees how far it is, and why they may not label or decide", async () => {
    const { id } = await newQueue(heddle, team, 1)
    const { page, close } = await label("vic", id)
    await page.getByText("You may not label in this queue").waitFor()
    await page.getByRole("link", { name: "See how far it is" }).click()
    await page.getByText("You may read here.").waitFor()
    for (const name of ["Label", "Queue settings"]) {
      expect(await page.getByRole("button", { name, exact: true }).isDisabled()).toBe(true)
    }
    await page.getByRole("link", { name: "Labelling" }).first().click()
    await page.getByText("Your role here does not make queues.").waitFor()
    await close()
  })
})

test("on a phone: one question at a time with large buttons, nothing to scroll sideways", async () => {
  const { id } = await newQueue(heddle, team, 2, { scorer_refs: [team.tone, team.warm] })
  const { page, close } = await label("ann", id, "", { viewport: phone, hasTouch: true })
  await inHand(page, 1)
  const box = await option(page, "kind").boundingBox()
  expect(box?.height).toBeGreaterThanOrEqual(44)
  expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(390)
  await option(page, "kind").tap()
  await option(page, "5").tap()
  await page.getByRole("button", { name: "Submit, next" }).tap()
  await inHand(page, 2)
  await page.getByRole("button", { name: "Undo the last one" }).tap()
  await inHand(page, 1)
  await close()
})

test("in both themes, wide and on a phone: nothing serious for axe, and nothing to scroll sideways", async () => {
  const { id: queue, calls } = await newQueue(heddle, team, 3, {
    required_annotators: 2,
    scorer_refs: [team.tone, team.warm],
  })
  await suggest(heddle, team.id, calls[0] ?? "", { tone: "rude", confidence: 0.83 })
  const itemsPath = `/annotation_queues/${queue}/items`
  const { items } = await heddle.send<{ items: { id: string; call_id: string }[] }>("POST", `${itemsPath}/query`, {
    project_id: team.id,
  })
  for (const [who, value] of [
    [team.as.ann, "kind"],
    [team.as.ben, "rude"],
  ] as const) {
    await who.send("POST", "/feedback/create", {
      project_id: team.id,
      queue_id: queue,
      weave_ref: `weave:///${team.id}/call/${items[0]?.call_id}`,
      feedback_type: "wandb.annotation.tone",
      annotation_ref: team.tone,
      payload: { value },
    })
    await who.send("POST", `${itemsPath}/${items[0]?.id}/progress`, {
      project_id: team.id,
      annotation_state: "completed",
    })
  }

  const { page, close } = await signedIn(browser, heddle, null)
  for (const [path, ready] of [
    ["/queues", page.getByRole("table", { name: "Queues" })],
    ["/queues/new?q=", page.getByText(/\d calls?: /)],
    [`/queues/${queue}`, page.getByRole("button", { name: "kind, as ann" })],
    [`/queues/${queue}?dialog=settings`, page.getByRole("dialog")],
    [`/queues/${queue}/label?blind=off`, page.getByRole("radio", { name: "kind" })],
    [`/queues/${queue}/label?view=bulk`, page.getByRole("list", { name: "Items in your hands" })],
  ] as const) {
    await page.goto(`${heddle.url}/${team.id}${path}`)
    await ready.first().waitFor()
    expect([path, await flaws(page)]).toEqual([path, []])
  }
  await close()
}, 180_000)

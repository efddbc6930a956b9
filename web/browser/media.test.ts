/** Pictures, sounds and files in traces, in datasets and of runs, as the SDKs store them, and hostile ones. */
import { randomUUID } from "node:crypto"
import type { Browser, Locator, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { flaws } from "./support/axe.ts"
import { foreign, launchBrowser } from "./support/browser.ts"
import { fillRunMedia } from "./support/fill-run-media.ts"
import { contentValue, customValue, soundValue, storeFile, wavOf } from "./support/fill-media.ts"
import { type Heddle, signedIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
const project = "local/media"

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
)
const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60" onload="top.owned = 1">
  <script>top.owned = 1</script><image href="https://other.example/track.png"/><rect width="90" height="60" fill="#c60"/></svg>`
const html = "<!doctype html><script>top.owned = 1</script><img src=x onerror='top.owned = 1'>"

const store = (bytes: string | Buffer, of = project) => storeFile(heddle, of, bytes)
const custom = (type: string, files: object) => customValue(project, type, files)
const content = (bytes: string | Buffer, mimetype: string, filename: string) =>
  contentValue(heddle, project, { bytes, mimetype, filename })

const traces: Record<string, string> = {}

async function send(op_name: string, inputs: object, output: unknown = null) {
  const trace_id = (traces[op_name] = randomUUID())
  const times = { started_at: "2026-11-20T10:00:00Z", ended_at: "2026-11-20T10:00:01Z" }
  const call = { project_id: project, id: randomUUID(), trace_id, parent_id: null, op_name, ...times }
  const batch = [{ ...call, attributes: {}, inputs, output, summary: {} }]
  await heddle.send("POST", `/v2/${project}/calls/complete`, { batch })
}

beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle({ HEDDLE_ENGINE: "none" }), launchBrowser()])
  const photo = custom("PIL.Image.Image", { "image.png": await store(png) })
  const sound = await soundValue(heddle, project, wavOf(1))
  await send(
    "described",
    { photo, sound, report: await content("%PDF-1.4", "application/pdf", "report.pdf") },
    {
      page: await content("# Findings\n\nThe **sun** is low.", "text/markdown", "page.md"),
    },
  )
  await send("hostile", {
    drawing: await content(svg, "image/svg+xml", "drawing.svg"),
    page: await content(html, "text/html", 'a"><script>top.owned = 1</script>.html'),
    lie: await content(html, "image/png", "lie.png"),
    foreign: custom("PIL.Image.Image", { "image.png": await store(`${svg} of another project`, "local/others") }),
    film: await content("no film", "video/mp4", "film.mp4"),
    broken: custom("weave.type_wrappers.Content.content.Content", {
      content: await store("?"),
      "metadata.json": "gone",
    }),
    inline: `data:text/html;base64,${btoa(html)}`,
  })
  await fillRunMedia(heddle, "media", { png, svg, html })
  const url = `data:image/png;base64,${png.toString("base64")}`
  const parts = [
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url } },
    { type: "image_url", image_url: { url: "https://other.example/photo.png" } },
    { type: "image_url", image_url: { url: "javascript:top.owned=1" } },
  ]
  await send(
    "chat",
    { model: "m", messages: [{ role: "user", content: parts }] },
    {
      choices: [{ message: { role: "assistant", content: "A dot." } }],
    },
  )
  const rows = [{ name: "first", photo }]
  const { digest } = await heddle.send<{ digest: string }>("POST", "/table/create", {
    table: { project_id: project, rows },
  })
  await heddle.send("POST", "/obj/create", {
    obj: {
      project_id: project,
      object_id: "shots",
      val: {
        _type: "Dataset",
        name: "shots",
        rows: `weave:///${project}/table/${digest}`,
        _class_name: "Dataset",
        _bases: ["Object", "BaseModel"],
      },
    },
  })
})
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const open = (trace: string) => signedIn(browser, heddle, `/${project}/traces/${traces[trace]}`)
const media = (page: Page, name: string) => page.getByRole("list", { name: `Media of the ${name}` })
const card = (page: Page, name: string) => media(page, "input").getByRole("figure").filter({ hasText: name })
/** Whether the picture was read and drawn. */
const isDrawn = (image: Locator) =>
  image.evaluate((element) => {
    const picture = element as unknown as { decode: () => Promise<void>; naturalWidth: number }
    return picture.decode().then(
      () => picture.naturalWidth > 0,
      () => false,
    )
  })

describe("in a trace", () => {
  test("a picture is small, opens large with a click or a key, and Escape closes it", async () => {
    const { page, requests, complaints, close } = await open("described")
    const small = media(page, "input").getByRole("img", { name: "photo" })
    await small.waitFor()
    expect(await isDrawn(small)).toBe(true)
    await page.getByRole("button", { name: "Open photo large" }).press("Enter")
    const large = page.getByRole("dialog", { name: "photo" })
    await large.getByText("1 × 1 · image.png · image/png").waitFor()
    await page.keyboard.press("Escape")
    await large.waitFor({ state: "detached" })
    expect(foreign(requests, heddle.url)).toEqual([])
    expect(complaints).toEqual([])
    await close()
  })

  test("a sound is played, a text is read, a file is saved under its name, and the JSON is there", async () => {
    const { page, close } = await open("described")
    const audio = page.locator("audio")
    await audio.waitFor()
    await expect
      .poll(() => audio.evaluate((player) => (player as unknown as { duration: number }).duration))
      .toBeCloseTo(1)
    await media(page, "output").getByRole("heading", { name: "Findings" }).waitFor()
    const saving = page.waitForEvent("download")
    await page.getByRole("link", { name: "Download report" }).click()
    expect((await saving).suggestedFilename()).toBe("report.pdf")
    await page.getByRole("tree", { name: "Input" }).getByText("photo").waitFor()
    await close()
  })

  test("nothing of what users stored runs, and what is not what it says is a line", async () => {
    const { page, requests, complaints, close } = await open("hostile")
    const drawing = page.getByRole("img", { name: "drawing" })
    await drawing.waitFor()
    expect(await isDrawn(drawing)).toBe(true)
    for (const name of ["page", "inline"])
      await page.getByRole("region", { name }).getByText("<!doctype html><script>").waitFor()
    for (const name of ["lie.png", "film.mp4", "image.png"])
      await card(page, name).getByText("cannot be shown").waitFor()
    await card(page, "broken").waitFor()
    expect(await page.evaluate(`window.owned`)).toBeUndefined()
    expect(foreign(requests, heddle.url)).toEqual([])
    expect(complaints.filter((text) => !text.includes("404"))).toEqual([])
    // To go to the address of one saves it, and the page stays.
    const address = (await drawing.getAttribute("src")) ?? ""
    const saving = page.waitForEvent("download")
    await page.evaluate(`location.href = ${JSON.stringify(address)}`)
    expect((await saving).suggestedFilename()).toBe("drawing.svg")
    await drawing.waitFor()
    await close()
  })

  test("a chat shows its pictures, names those of other hosts and loads none of them", async () => {
    const { page, requests, complaints, close } = await open("chat")
    const chat = page.getByRole("list", { name: "Chat" })
    expect(await isDrawn(chat.getByRole("img", { name: "image" }))).toBe(true)
    const link = chat.getByRole("link", { name: "image at other.example" })
    expect(await link.getAttribute("rel")).toContain("noreferrer")
    await chat.getByText("not loaded").waitFor()
    expect(await chat.getByRole("link").count()).toBe(1)
    expect(foreign(requests, heddle.url)).toEqual([])
    expect(complaints).toEqual([])
    await close()
  })
})

test("a row of a dataset shows its picture", async () => {
  const { page, close } = await signedIn(browser, heddle, `/${project}/objects/shots/versions/latest?row=0`)
  expect(await isDrawn(page.getByRole("list", { name: "Media of the row" }).getByRole("img"))).toBe(true)
  await close()
})

/** Script of the page: the opacities of the picture that lets the colour through, by columns, from the top down. */
const opacitiesOfSteps = (label: string) => `(async () => {
  const ink = document.querySelector(${JSON.stringify(`[aria-label=${JSON.stringify(label)}] > div`)})
  const picture = new Image()
  picture.src = getComputedStyle(ink).maskImage.slice(5, -2)
  await picture.decode()
  const { width, height } = picture
  const context = new OffscreenCanvas(width, height).getContext("2d")
  context.drawImage(picture, 0, 0)
  const { data } = context.getImageData(0, 0, width, height)
  return Array.from({ length: width }, (_, x) => Array.from({ length: height }, (_, y) => data[(y * width + x) * 4 + 3]))
})()`

describe("a run", () => {
  const panel = (page: Page, name: string) => page.getByRole("region", { name, exact: true })

  test("shows the pictures, tables, charts and histograms that it logged, each at the step that one chooses", async () => {
    const { page, requests, complaints, close } = await signedIn(browser, heddle, `/${project}/runs/kept`)
    const sample = panel(page, "sample")
    expect(await isDrawn(sample.getByRole("img", { name: "second" }))).toBe(true)
    await sample.getByText("step 7").waitFor()
    await page.getByRole("slider", { name: "Step of sample" }).fill("0")
    await sample.getByText("step 2").waitFor()
    expect(await isDrawn(sample.getByRole("img", { name: "first" }))).toBe(true)
    for (const name of ["one", "two"]) {
      expect(await isDrawn(panel(page, "several").getByRole("img", { name })), name).toBe(true)
    }
    const samples = panel(page, "samples").getByRole("table")
    expect((await samples.getByRole("row").allInnerTexts()).map((row) => row.split(/\s*\t\s*/))).toEqual([
      ["Row", "prompt", "completion", "reward"],
      ["1", "What is the Sun?", "A star.", "0.1"],
      ["2", "And the Moon?", "A rock.", "4611686018427387923"],
    ])
    await samples.getByRole("button", { name: "Open row 1 of samples" }).click()
    await page.getByRole("dialog").getByText('"What is the Sun?"').waitFor()
    await page.keyboard.press("Escape")
    await panel(page, "ROC").getByRole("img", { name: "ROC" }).waitFor()
    await panel(page, "ROC").getByText("dog").waitFor()
    await page.getByRole("button", { name: "Show as a table: ROC" }).click()
    expect(await panel(page, "ROC").getByRole("row").count()).toBe(7)
    const taken = await panel(page, "Taken for").getByRole("row").allInnerTexts()
    expect(taken.slice(1).map((row) => row.split(/\s+/))).toEqual([
      ["cat", "31", "4"],
      ["dog", "7", "29"],
    ])
    await panel(page, "Our own").getByText("of a chart that is not known").waitFor()
    await page.getByRole("button", { name: /^Histograms/ }).click()
    await panel(page, "gradients/w").locator('[data-drawn="true"]').waitFor()
    const steps = "gradients/w: values from −1 to 1 over steps 2 to 7"
    await panel(page, "gradients/w").getByRole("img", { name: steps }).waitFor()
    // Each column has values somewhere, and the corner of few values is paler than the middle of many.
    const opacities = await page.evaluate<number[][]>(opacitiesOfSteps(steps))
    expect(opacities.map((column) => column.filter((one) => one > 0).length)).toEqual([48, 48])
    expect(opacities[0]?.[24]).toBe(Math.max(...opacities.flat()))
    expect(opacities[0]?.[0]).toBeLessThan(opacities[0]?.[24] ?? 0)
    // What has a chart is no table of its own.
    expect(await page.getByRole("heading", { name: /^Tables/ }).innerText()).toMatch(/^Tables\s*2$/)
    expect(foreign(requests, heddle.url)).toEqual([])
    expect(complaints.filter((text) => !text.includes("401"))).toEqual([])
    await close()
  })

  test("the pictures and sounds of a table are those of its artifact", async () => {
    const { page, requests, complaints, close } = await signedIn(browser, heddle, `/${project}/runs/kept`)
    const shots = panel(page, "shots")
    expect(await isDrawn(shots.getByRole("img", { name: "shot.png" }))).toBe(true)
    await shots.getByText("a beep").waitFor()
    expect(await shots.getByText("Image", { exact: true }).count()).toBe(0)
    await shots.getByRole("button", { name: "Open row 1 of shots" }).click()
    const row = page.getByRole("dialog")
    expect(await isDrawn(row.getByRole("img", { name: "shot", exact: true }))).toBe(true)
    const audio = row.locator("audio")
    await expect
      .poll(() => audio.evaluate((player) => (player as unknown as { duration: number }).duration))
      .toBeCloseTo(1)
    expect(foreign(requests, heddle.url)).toEqual([])
    expect(complaints.filter((text) => !text.includes("401"))).toEqual([])
    await close()
  })

  test("nothing that it logged runs: a page is shown as its text", async () => {
    const { page, requests, close } = await signedIn(browser, heddle, `/${project}/runs/kept`)
    await panel(page, "page").getByText("top.owned = 1").waitFor()
    expect(await isDrawn(panel(page, "several").getByRole("img", { name: "two" }))).toBe(true)
    expect(await page.evaluate(`window.owned`)).toBeUndefined()
    expect(foreign(requests, heddle.url)).toEqual([])
    await close()
  })

  test("axe finds nothing, and it fits a phone", async () => {
    const { page, close } = await signedIn(browser, heddle, `/${project}/runs/kept`)
    await panel(page, "ROC").getByRole("img", { name: "ROC" }).waitFor()
    await page.getByRole("button", { name: /^Histograms/ }).click()
    await panel(page, "gradients/w").locator('[data-drawn="true"]').waitFor()
    expect(await flaws(page)).toEqual([])
    await close()
  })
})

test.each(["described", "hostile", "chat"])("%s: axe finds nothing, and it fits a phone", async (trace) => {
  const { page, close } = await open(trace)
  await page.getByRole("figure").first().waitFor()
  expect(await flaws(page)).toEqual([])
  await close()
})

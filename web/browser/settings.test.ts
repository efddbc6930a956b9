/** Usage and settings: keys, browsers, quotas, people, the record of changes, as an administrator and as a member. */
import { randomUUID } from "node:crypto"
import { readFile } from "node:fs/promises"
import type { Browser, Locator, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { cutButtons, flaws, flawsOfPages } from "./support/axe.ts"
import { foreign, launchBrowser, newVisit, phone } from "./support/browser.ts"
import { fillProject } from "./support/fill.ts"
import { heldBack } from "./support/held-back.ts"
import { type Heddle, signedIn, signIn, startHeddle } from "./support/heddle.ts"

let heddle: Heddle
let browser: Browser
/** Key of ada, a user who is no administrator. */
let memberKey: string
beforeAll(async () => {
  ;[heddle, browser] = await Promise.all([startHeddle(), launchBrowser()])
  await fillProject(heddle, "support", 1)
  await heddle.send("POST", "/v1/organization/teams", { name: "lab" })
  await heddle.send("POST", "/v1/organization/users", { username: "ada", teams: ["lab"] })
  memberKey = (await makeKey("laptop", "ada")).value
}, 240_000)
afterAll(async () => {
  await browser?.close()
  await heddle?.close()
})

const home = "/local/support/settings"
const makeKey = (name: string, username: string) =>
  heddle.send<{ id: string; value: string }>("POST", "/v1/organization/api_keys", { name, username })
const open = (section: string, options = {}) => signedIn(browser, heddle, `${home}/${section}`, options)

/** Opens a window in which the member ada is signed in, at a project of hers. */
async function openAsMember(section: string) {
  const visit = await newVisit(browser)
  await visit.page.goto(`${heddle.url}/login?to=/ada/own/settings/${section}`)
  await signIn(visit.page, memberKey)
  await visit.page.waitForURL(`**/ada/own/settings/${section}`)
  return visit
}

/** Keeps what is made at an address from being answered until the returned function is called. */
async function held(page: Page, url: string): Promise<() => void> {
  const { free } = await heldBack(page, url, (method) => method === "POST")
  return free
}

const rowOf = (page: Page | Locator, name: string | RegExp) => page.getByRole("row").filter({ hasText: name })
const statusOf = async (key: string) =>
  (await fetch(`${heddle.url}/v1/organization/me`, { headers: { authorization: `Bearer ${key}` } })).status

test("the menu leads to the first section; a section that there is not is no page", async () => {
  const visit = await signedIn(browser, heddle, "/local/support/models")
  const { page } = visit
  await page.getByRole("link", { name: "Usage & settings" }).click()
  await page.waitForURL(`**${home}/keys`)
  await page.getByRole("heading", { name: "API keys" }).waitFor()
  const sections = page.getByRole("navigation", { name: "Settings" })
  expect(await sections.getByRole("link", { name: "API keys" }).getAttribute("aria-current")).toBe("page")
  await sections.getByRole("link", { name: "Health" }).click()
  await page.waitForURL(`**${home}/server`)
  await page.getByText("The server takes requests and reaches its stores.").waitFor()
  await page.goto(`${heddle.url}${home}/nothing`)
  await page.getByRole("heading", { name: "No such page" }).waitFor()
  expect([foreign(visit.requests, heddle.url), visit.complaints.filter((text) => !text.includes("401"))]).toEqual([
    [],
    [],
  ])
  await visit.close()
})

test("on a phone the list of pages leads there, and a dialog fits", async () => {
  const { page, close } = await signedIn(browser, heddle, "/local/support/models", { viewport: phone })
  await page.getByRole("button", { name: "Pages and commands" }).click()
  await page.getByRole("menuitem", { name: /^Usage & settings/ }).click()
  await page.waitForURL(`**${home}/keys`)
  await page.getByRole("button", { name: "New key" }).click()
  const box = await page.getByRole("dialog", { name: "New key" }).boundingBox()
  expect((box?.x ?? -1) >= 0 && (box?.x ?? 0) + (box?.width ?? phone.width) <= phone.width).toBe(true)
  await close()
})

describe("API keys", () => {
  test("one is made with an end, shown once, seen in use, and ended", async () => {
    const { page, close } = await open("keys")
    await page.getByRole("button", { name: "New key" }).click()
    const dialog = page.getByRole("dialog", { name: "New key" })
    await dialog.getByLabel("Name").fill("rollouts")
    await dialog.getByLabel("Whose it is").selectOption("ada")
    await dialog.getByLabel("What it may be used for").selectOption("sending")
    await dialog.getByText("reads nothing back and deletes nothing").waitFor()
    await dialog.getByLabel("Ends after").selectOption("7 days")
    // It is shown once: nothing closes the window while it is made.
    const released = await held(page, "**/v1/organization/api_keys")
    await dialog.getByRole("button", { name: "Make key" }).click()
    await expect.poll(() => dialog.getByRole("button", { name: "Leave it" }).isDisabled()).toBe(true)
    await page.keyboard.press("Escape")
    released()
    const made = page.getByRole("region", { name: "The new key rollouts" })
    const key = await made.locator("code").innerText()
    await made.getByText("waiting for its first use").waitFor()
    expect(await statusOf(key)).toBe(200)
    await made.getByText("it is in use").waitFor()
    const row = rowOf(page, "rollouts")
    await expect
      .poll(() => row.getByRole("cell").allInnerTexts())
      .toEqual([
        "rollouts",
        `…${key.slice(-4)}`,
        "ada",
        "sending",
        expect.stringMatching(/\d/),
        expect.stringMatching(/ago|now/),
        expect.stringMatching(/\d/),
        "End…",
      ])
    await row.getByRole("img", { name: "soon" }).waitFor()
    await made.getByRole("button", { name: "Done" }).click()
    expect(await page.getByText(key).count()).toBe(0)
    await row.getByRole("button", { name: "End the key rollouts" }).click()
    const question = page.getByRole("dialog", { name: "End the key “rollouts” of ada?" })
    await question.getByRole("button", { name: "End key" }).click()
    await row.waitFor({ state: "detached" })
    expect(await statusOf(key)).toBe(401)
    await close()
  }, 180_000)

  test("whose keys are shown is in the address; a member sees and makes only her own", async () => {
    const { page, close } = await open("keys")
    await rowOf(page, "laptop").waitFor()
    await page.getByRole("button", { name: "Mine" }).click()
    await page.waitForURL("**/keys?whose=mine")
    await rowOf(page, "laptop").waitFor({ state: "detached" })
    await close()
    const hers = await openAsMember("keys")
    await rowOf(hers.page, "laptop").waitFor()
    expect(await rowOf(hers.page, "admin").count()).toBe(0)
    await hers.page.getByRole("button", { name: "New key" }).click()
    await hers.page.getByLabel("Ends after").waitFor()
    expect(await hers.page.getByLabel("Whose it is").count()).toBe(0)
    await hers.close()
  })

  test("a refusal is said where the key is asked for", async () => {
    await heddle.send("POST", "/v1/organization/teams/ada/quotas", { api_keys: 1 })
    const { page, close } = await openAsMember("keys")
    await page.getByRole("button", { name: "New key" }).click()
    await page.getByLabel("Name").fill("one too many")
    await page.getByRole("button", { name: "Make key" }).click()
    await page.getByText(/No key was made\..*the team "ada" has 1 of at most 1 api keys/).waitFor()
    await heddle.send("POST", "/v1/organization/teams/ada/quotas", { api_keys: null })
    await close()
  })
})

test("another browser is signed out; this one has no button for it", async () => {
  const other = await openAsMember("sessions")
  const { page, close } = await open("sessions")
  await rowOf(page, "this browser").waitFor()
  expect(await rowOf(page, "this browser").getByRole("button").count()).toBe(0)
  const hers = rowOf(page, "ada").getByRole("button", { name: /^Sign out there: .* of ada$/ })
  while ((await hers.count()) > 0) {
    const before = await hers.count()
    await hers.first().click()
    await expect.poll(() => hers.count()).toBeLessThan(before)
  }
  // Her page may have asked for something by itself already, and says so above the link.
  await other.page.getByRole("link", { name: "Usage", exact: true }).dispatchEvent("click")
  await other.page.getByRole("heading", { name: "Sign in again" }).waitFor()
  await Promise.all([other.close(), close()])
})

test("usage: the figures of the ledger, by what is chosen, in the address", async () => {
  const { page, close } = await open("usage")
  const ledger = await heddle.send<{ data: { results: { num_model_requests: number; input_tokens: number }[] }[] }>(
    "GET",
    `/v1/organization/usage/completions?start_time=${Math.floor(Date.now() / 1000) - 86_400}&bucket_width=1h&limit=26`,
  )
  const results = ledger.data.flatMap((bucket) => bucket.results)
  const requests = results.reduce((sum, one) => sum + one.num_model_requests, 0)
  expect(requests).toBeGreaterThan(0)
  const row = rowOf(page.getByRole("table", { name: "Usage by model" }), "returns-agent")
  await expect.poll(async () => (await row.getByRole("cell").allInnerTexts())[1]).toBe(`${requests}`)
  await page.getByRole("button", { name: "Key", exact: true }).click()
  await page.getByRole("button", { name: "24 h" }).click()
  await page.waitForURL("**/usage?*since=24h*")
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({ by: "key", since: "24h" })
  await rowOf(page.getByRole("table", { name: "Usage by key" }), "of admin").waitFor()
  await close()
})

describe("quotas", () => {
  test("an administrator sets one of any team, and goes back to the default", async () => {
    const { page, close } = await open("quotas")
    await page.getByLabel("Team", { exact: true }).selectOption("lab")
    await page.waitForURL("**/quotas?team=lab")
    const row = rowOf(page.getByRole("table", { name: "Quotas of lab" }), "Stored")
    const change = row.getByRole("button", { name: "Change Stored of lab" })
    await change.click()
    const dialog = page.getByRole("dialog", { name: "Stored of lab" })
    await dialog.getByLabel("At most, in GB").fill("much")
    await dialog.getByText("A number of GB, such as 100.").waitFor()
    await dialog.getByLabel("At most, in GB").fill("2.5")
    await dialog.getByRole("button", { name: "Set" }).click()
    await row.getByText(/2\.5\sGB/).waitFor()
    const limit = async () =>
      (
        await heddle.send<{ quotas: { name: string; limit: number }[] }>("GET", "/v1/organization/teams/lab/quotas")
      ).quotas.find(({ name }) => name === "stored_bytes")?.limit
    expect(await limit()).toBe(2_500_000_000)
    await change.click()
    await dialog.getByRole("button", { name: "As for every team" }).click()
    await row.getByText("as for every team").waitFor()
    expect(await limit()).toBe(100 * 1024 ** 3)
    await close()
  })

  test("a full quota says so, and tells a member who may change it", async () => {
    await heddle.send("POST", "/v1/organization/teams/ada/quotas", { api_keys: 1 })
    const { page, close } = await openAsMember("quotas")
    await rowOf(page, "API keys").getByText("full").waitFor()
    await page.getByText("Only an administrator changes a quota.").waitFor()
    expect(await page.getByRole("button", { name: /^Change/ }).count()).toBe(0)
    await heddle.send("POST", "/v1/organization/teams/ada/quotas", { api_keys: null })
    await close()
  })
})

describe("costs", () => {
  const spent = "local/spent"
  const dear = "dear-1.5"
  beforeAll(async () => {
    const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
    const usage = (model: string, tokens: number) => ({ [model]: { requests: 1, prompt_tokens: tokens } })
    const price = (cost: number) => ({
      prompt_token_cost: cost,
      completion_token_cost: cost,
      effective_date: "2026-01-01",
    })
    await heddle.send("POST", "/cost/create", { project_id: spent, costs: { [dear]: price(0.03), cheap: price(0.01) } })
    const trace = (op: string, minutes: number, used: object) => {
      const [trace_id, root] = [randomUUID(), randomUUID()]
      const call = { project_id: spent, trace_id, started_at: at(minutes), ended_at: at(minutes - 1) }
      const told = { attributes: {}, inputs: {}, output: {}, summary: { usage: used } }
      return [
        { ...call, ...told, id: root, parent_id: null, op_name: `weave:///${spent}/op/${op}:${"a".repeat(43)}` },
        { ...call, ...told, id: randomUUID(), parent_id: root, op_name: "request" },
      ]
    }
    const batch = [
      ...trace("answer", 30, usage(dear, 100)),
      ...trace("answer", 20, usage("cheap", 100)),
      ...trace("sort_mail", 10, usage("our-own", 500)),
      // In the range before.
      ...trace("answer", 36 * 60, usage(dear, 50)),
    ]
    await heddle.send("POST", `/v2/${spent}/calls/complete`, { batch })
  })
  const openCosts = (query: string) => signedIn(browser, heddle, `/${spent}/settings/usage?since=24h${query}`)
  const cellsOf = async (page: Page, table: string) => {
    const rows = page.getByRole("table", { name: table }).getByRole("row")
    await rows.nth(1).waitFor()
    return Promise.all((await rows.all()).slice(1).map((row) => row.getByRole("cell").allInnerTexts()))
  }

  test("by model: the dearest first, each request once, and what has no price is told so, with the way to a price", async () => {
    const { page, close } = await openCosts("")
    const rows = await cellsOf(page, "Costs by model")
    expect(rows.map(([name, calls, input, , , cost, share]) => [name, calls, input, cost, share])).toEqual([
      [dear, "1", "100", "$3.00", "75.0\u202f%"],
      ["cheap", "1", "100", "$1.00", "25.0\u202f%"],
      ["our-own", "1", "500", "no price", ""],
    ])
    await page.setViewportSize({ width: 1440, height: 420 })
    expect(await page.evaluate<number>("document.documentElement.scrollHeight")).toBe(420)
    const totals = page.getByRole("group", { name: "Totals of costs" })
    await totals.getByText("$2.50 more than in the 24 hours before").waitFor()
    await totals.getByText("1 of them without a price").waitFor()
    await page.getByText("No price: our-own.").waitFor()
    await page.getByText("Give our-own a price").click()
    const code = await page.getByRole("region", { name: "A price for our-own" }).innerText()
    const body = /-d '([^']+)'/.exec(code)?.[1] ?? ""
    await heddle.send("POST", "/cost/create", JSON.parse(body))
    await page.reload()
    await expect.poll(async () => (await cellsOf(page, "Costs by model")).at(-1)?.[5]).toBe("$0.00050")
    await close()
  })

  test("a model leads to the calls that report it, in the same range; an op to its traces", async () => {
    const { page, close } = await openCosts("")
    await page.getByRole("link", { name: dear, exact: true }).click()
    await page.waitForURL("**/traces?*")
    await page.getByText("2 calls", { exact: true }).waitFor()
    await page.goBack()
    await page.getByRole("group", { name: "Costs by" }).getByRole("button", { name: "Op" }).click()
    await page.waitForURL("**/usage?*costs=op*")
    const rows = await cellsOf(page, "Costs by op")
    expect(rows.map(([name, calls]) => [name, calls])).toEqual([
      ["answer", "2"],
      ["sort_mail", "1"],
    ])
    expect(rows[0]?.[5]).toBe("$4.00")
    await page.getByRole("link", { name: "answer", exact: true }).click()
    await page.getByText("2 traces", { exact: true }).waitFor()
    await close()
  })

  test("a project without calls has none, and is no error", async () => {
    const { page, close } = await openAsMember("usage")
    await page.getByText("No call of the last 30 days reports tokens of a model.").waitFor()
    expect(await page.getByText("could not be read").count()).toBe(0)
    await close()
  })

  test("by person, on a phone and in both themes: nothing serious for axe, and nothing to scroll sideways", async () => {
    const { page, close } = await openCosts("&costs=user")
    await page.getByRole("link", { name: "admin", exact: true }).waitFor()
    await page.locator('[data-drawn="true"]').waitFor()
    expect(await flaws(page)).toEqual([])
    await close()
  })
})

test("usage leaves as a table of days, projects, people, keys and models", async () => {
  const { page, close } = await open("usage")
  await rowOf(page.getByRole("table", { name: "Usage by model" }), "returns-agent").waitFor()
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "CSV" }).click()])
  expect(file.suggestedFilename()).toBe("usage-local-support.csv")
  const [head, ...lines] = (await readFile(await file.path(), "utf8")).trim().split("\r\n")
  expect(head).toBe("day,project,user,api_key,api_key_id,model,requests,input_tokens,cached_tokens,output_tokens")
  const trained = lines.filter((line) => line.includes("/support/returns-agent"))
  expect(trained.length).toBeGreaterThan(0)
  for (const line of trained) expect(line).toMatch(/^\d{4}-\d\d-\d\d,local\/support,admin,.* of admin,.*(,\d+){4}$/)
  await close()
})

describe("members", () => {
  const inLab = (section: string) => signedIn(browser, heddle, `/lab/triage/settings/${section}`)
  const rolesOf = async () => {
    const { data } = await heddle.send<{ data: { username: string; role: string; team_role: string }[] }>(
      "GET",
      "/v1/projects/lab/triage/roles",
    )
    return Object.fromEntries(data.map(({ username, role, team_role: inTeam }) => [username, [inTeam, role]]))
  }
  beforeAll(async () => {
    await heddle.send("POST", "/v1/projects", { entity: "lab", name: "triage" })
  })

  test("a link lets in one person, once, with the role that it names; roles change in the team and in a project", async () => {
    const { page, close } = await inLab("members")
    await page.getByRole("button", { name: "Invite" }).click()
    const dialog = page.getByRole("dialog", { name: "Invite into lab" })
    await dialog.getByLabel("Role").selectOption("annotator")
    await dialog.getByText("May: reads and labels.").waitFor()
    const released = await held(page, "**/lab/invitations")
    await dialog.getByRole("button", { name: "Make the link" }).click()
    await expect.poll(() => dialog.getByRole("button", { name: "Leave it" }).isDisabled()).toBe(true)
    await page.keyboard.press("Escape")
    released()
    const link = await dialog.locator("code").innerText()
    expect(link).toMatch(new RegExp(`^${heddle.url}/login#invitation=[\\w-]{43}$`))
    await dialog.getByRole("button", { name: "Done" }).click()
    const invitations = page.getByRole("table", { name: "Invitations" })
    await rowOf(invitations, "annotator").waitFor()
    expect(await page.getByText(link).count()).toBe(0)

    const guest = await newVisit(browser)
    await guest.page.goto(link)
    await guest.page.getByLabel("Your name here").fill("dana")
    await guest.page.getByRole("button", { name: "Join" }).click()
    await guest.page.getByText("it is not shown").waitFor()
    expect(new URL(guest.page.url()).hash).toBe("")
    await guest.page.getByRole("button", { name: "Go on to Heddle" }).click()
    await guest.page.waitForURL(`${heddle.url}/`)
    await guest.page.goto(link)
    await guest.page.getByLabel("Your name here").fill("eve")
    await guest.page.getByRole("button", { name: "Join" }).click()
    await guest.page.getByText("You were not let in.").waitFor()
    await guest.close()

    await page.reload()
    const dana = rowOf(page.getByRole("table", { name: "Members" }), "dana")
    const inTeam = dana.getByLabel("Role of dana in lab")
    expect(await inTeam.inputValue()).toBe("annotator")
    await inTeam.selectOption("viewer")
    await expect.poll(rolesOf).toMatchObject({ dana: ["viewer", "viewer"] })
    await dana.getByLabel("Role of dana in triage").selectOption("member")
    await expect.poll(rolesOf).toMatchObject({ dana: ["viewer", "member"] })
    await dana.getByText("reads, labels, traces, trains").waitFor()
    await inTeam.selectOption("member")
    await expect.poll(rolesOf).toMatchObject({ dana: ["member", "member"] })
    await page.reload()
    expect(await dana.getByLabel("Role of dana in triage").inputValue()).toBe("member")
    await inTeam.selectOption("viewer")
    await expect.poll(rolesOf).toMatchObject({ dana: ["viewer", "member"] })
    await dana.getByLabel("Role of dana in triage").selectOption("as in team")
    await expect.poll(rolesOf).toMatchObject({ dana: ["viewer", "viewer"] })
    await dana.getByRole("button", { name: "Take out dana" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Take out" }).click()
    await dana.waitFor({ state: "detached" })
    await close()
  })

  test("an invitation that was withdrawn lets nobody in; a person who has a user joins with another one", async () => {
    const { page, close } = await inLab("members")
    const invite = async () => {
      await page.getByRole("button", { name: "Invite" }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Make the link" }).click()
      const link = await page.getByRole("dialog").locator("code").innerText()
      await page.getByRole("dialog").getByRole("button", { name: "Done" }).click()
      return link
    }
    const ended = await invite()
    const end = page.getByRole("button", { name: "End the invitation of admin for the role member" })
    await end.click()
    await end.waitFor({ state: "detached" })
    await heddle.send("POST", "/v1/organization/users", { username: "finn" })
    const { value: key } = await makeKey("desk", "finn")
    const join = async (link: string) => {
      const guest = await newVisit(browser)
      await guest.page.goto(link)
      await guest.page.getByRole("button", { name: "I have a user here" }).click()
      await signIn(guest.page, key)
      return guest
    }
    const refused = await join(ended)
    await refused.page.getByText("You are signed in, but not in the team.").waitFor()
    await refused.close()
    const joined = await join(await invite())
    await joined.page.waitForURL(`${heddle.url}/`)
    await joined.close()
    await expect.poll(rolesOf).toMatchObject({ finn: ["member", "member"] })
    await close()
  })

  test("a program has an account of its own, and a key", async () => {
    const { page, close } = await inLab("members")
    await page.getByRole("button", { name: "New program" }).click()
    await page.getByLabel("Name").fill("ci")
    await page.getByText("It is called ci@lab.").waitFor()
    await page.getByRole("button", { name: "Make program" }).click()
    const row = rowOf(page.getByRole("table", { name: "Members" }), "ci@lab")
    await row.getByText("the account of a program").waitFor()
    expect(await row.getByRole("combobox").count()).toBe(0)
    // Its account ends with it, and the question says so.
    await row.getByRole("button", { name: "Take out ci@lab" }).click()
    const question = page.getByRole("dialog", { name: "Remove the program ci@lab?" })
    await question.getByText("That is for good").waitFor()
    await question.getByRole("button", { name: "Remove program" }).click()
    await row.getByText("disabled").waitFor()
    await close()
  })

  test("whoever takes themselves out is not asked again", async () => {
    await heddle.send("POST", "/v1/organization/users", { username: "gil", teams: ["lab"] })
    await heddle.send("POST", "/v1/organization/teams/lab/members/gil", { role: "admin" })
    const { value: key } = await makeKey("desk", "gil")
    const { page, close } = await newVisit(browser)
    await page.goto(`${heddle.url}/login?to=/lab/triage/settings/members`)
    await signIn(page, key)
    await page.getByRole("button", { name: "Take out gil" }).click()
    const question = page.getByRole("dialog", { name: "Take gil out of lab?" })
    await question.getByRole("button", { name: "Take out" }).click()
    await question.waitFor({ state: "detached" })
    await close()
  })

  test("an administrator of the team makes, sees and ends keys of its programs", async () => {
    await heddle.send("POST", "/v1/organization/users", { username: "hal" })
    await heddle.send("POST", "/v1/organization/teams/lab/service_accounts", { name: "nightly" })
    await heddle.send("POST", "/v1/organization/teams/lab/members", { username: "hal", role: "admin" })
    const { value: key } = await makeKey("desk of hal", "hal")
    const { page, close } = await signedIn(browser, { ...heddle, key }, "/lab/triage/settings/keys")
    const keys = page.getByRole("table", { name: "API keys" })
    await rowOf(keys, "desk of hal").waitFor()
    await page.getByRole("button", { name: "New key" }).click()
    const dialog = page.getByRole("dialog", { name: "New key" })
    await dialog.getByLabel("Name").fill("every night")
    await dialog.getByLabel("Whose it is").selectOption("nightly@lab")
    await dialog.getByRole("button", { name: "Make key" }).click()
    await rowOf(keys, "every night").getByText("nightly@lab").waitFor()
    await page.getByRole("button", { name: "Mine", exact: true }).click()
    await rowOf(keys, "every night").waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Mine and of programs" }).click()
    await page.getByRole("button", { name: "End the key every night" }).click()
    await page.getByRole("button", { name: "End key" }).click()
    await rowOf(keys, "every night").waitFor({ state: "detached" })
    await close()
  })

  test("a member who may change no role sees roles without buttons", async () => {
    const visit = await newVisit(browser)
    await visit.page.goto(`${heddle.url}/login?to=/lab/triage/settings/members`)
    await signIn(visit.page, memberKey)
    await rowOf(visit.page.getByRole("table", { name: "Members" }), "ada")
      .getByText("member", { exact: true })
      .waitFor()
    await visit.page.getByText("Its administrators decide about that.").waitFor()
    expect(await visit.page.getByRole("button", { name: /^(Invite|New|Take)/ }).count()).toBe(0)
    expect(visit.requests.filter((url) => url.includes("invitations"))).toEqual([])
    await visit.close()
  })
})

test("storage: what each project of the team holds", async () => {
  const { page, close } = await open("storage")
  const row = rowOf(page.getByRole("table", { name: "Storage by project" }), "support")
  await row
    .getByText(/^\d.*[KMG]B$/)
    .first()
    .waitFor()
  await close()
})

test("scoring rules: one is made, scores a call that comes, is paused and deleted", async () => {
  const { page, close } = await open("scoring")
  await page.getByText("New calls are scored by nobody here.").waitFor()
  await page.getByRole("button", { name: "New rule" }).click()
  const dialog = page.getByRole("dialog", { name: "New rule" })
  await dialog.getByLabel("Name").fill("polite")
  await dialog.getByLabel("Only calls of the op").fill("greet")
  await dialog.getByLabel("Scores with").selectOption("regex")
  await dialog.getByLabel("Pattern").fill("(pl")
  await dialog.getByRole("button", { name: "Make rule" }).click()
  await dialog.getByText("none that RE2 takes").waitFor()
  await dialog.getByLabel("Pattern").fill("(?i)please")
  await dialog.getByRole("button", { name: "Make rule" }).click()
  const row = rowOf(page, "polite")
  await row.getByText("at work").waitFor()
  const id = randomUUID()
  const times = { started_at: "2026-03-01T00:00:00Z", ended_at: "2026-03-01T00:00:01Z" }
  const call = { project_id: "local/support", id, trace_id: id, op_name: "greet", ...times, attributes: {}, inputs: {} }
  await heddle.send("POST", "/v2/local/support/calls/complete", {
    batch: [{ ...call, output: "Please come in", summary: {} }],
  })
  await expect.poll(() => row.getByRole("cell").nth(4).innerText(), { timeout: 20_000 }).toBe("1")
  await row.getByRole("button", { name: "Pause the rule polite" }).click()
  await row.getByRole("button", { name: "Resume the rule polite" }).waitFor()
  expect(await cutButtons(page)).toEqual([])
  await row.getByRole("button", { name: "Delete the rule polite" }).click()
  await page.getByRole("button", { name: "Delete rule" }).click()
  await page.getByText("New calls are scored by nobody here.").waitFor()
  await close()
})

test("models outside: their endpoints, and the keys that are missing", async () => {
  const { page, close } = await open("outside")
  await page.getByRole("heading", { name: "No endpoints" }).waitFor()
  await page.getByText("There is no key for this team.").waitFor()
  await heddle.send("PUT", "/v2/local/support/runtimes/agent", {
    base_url: "https://93.184.215.14/v1",
    api_key_secret: "AGENT_KEY",
    runtime_ids: [{ id: "support-v12" }],
  })
  await page.reload()
  const row = rowOf(page.getByRole("table", { name: "Endpoints" }), "agent")
  await row.getByText("AGENT_KEY is missing").waitFor()
  expect((await row.getByRole("cell").allInnerTexts()).slice(0, 3)).toEqual([
    "agent",
    "https://93.184.215.14/v1",
    "support-v12",
  ])
  // A blank in a project's name is no end of the address within the command.
  await heddle.send("POST", "/v1/projects", { entity: "local", name: "two words" })
  await page.goto(`${heddle.url}/local/two%20words/settings/outside`)
  const command = page.getByRole("region", { name: "Request that adds an endpoint" })
  expect(await command.innerText()).toContain(`curl -X PUT ${heddle.url}/v2/local/two%20words/runtimes/agent`)
  await close()
})

describe("people and teams", () => {
  test("a user is made, let into a team, taken out, disabled, enabled and removed", async () => {
    const { page, close } = await open("people")
    await page.getByRole("button", { name: "New user" }).click()
    await page.getByLabel("Name").fill("grace")
    await page.getByRole("button", { name: "Make user" }).click()
    const row = rowOf(page.getByRole("table", { name: "Users" }), "grace")
    await row.getByText("enabled").waitFor()
    const { value: key } = await makeKey("desk", "grace")

    const lab = page.getByRole("listitem", { name: "lab" })
    await lab.getByLabel("Let somebody into lab").selectOption("grace")
    const out = lab.getByRole("button", { name: "Take grace out of lab" })
    await out.click()
    await page.getByRole("dialog").getByRole("button", { name: "Take out" }).click()
    await out.waitFor({ state: "detached" })

    await row.getByRole("button", { name: "Disable grace" }).click()
    await row.getByText("disabled").waitFor()
    expect(await statusOf(key)).toBe(401)
    await row.getByRole("button", { name: "Enable grace" }).click()
    await row.getByText("enabled").waitFor()
    expect(await statusOf(key)).toBe(200)
    await row.getByRole("button", { name: "Remove grace" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Remove grace" }).click()
    await row.getByText("disabled").waitFor()
    expect(await statusOf(key)).toBe(401)
    await close()
  })

  test("a team is made; a name that is taken is refused in its place", async () => {
    const { page, close } = await open("people")
    const make = async (name: string) => {
      await page.getByRole("button", { name: "New team" }).click()
      await page.getByLabel("Name").fill(name)
      await page.getByRole("button", { name: "Make team" }).click()
    }
    await make("shop")
    await page.getByRole("listitem", { name: "shop" }).getByText("admin").first().waitFor()
    await make("shop")
    await page.getByText('a user or team "shop" exists already').waitFor()
    await close()
  })

  test("a member sees her teams, and reads that the rest is for administrators", async () => {
    const { page, close } = await openAsMember("people")
    await page.getByRole("listitem", { name: "lab" }).getByText("ada").waitFor()
    await page.getByText("The list of all users is for administrators.").waitFor()
    expect(await page.getByRole("button", { name: /^(New|Take|Let)/ }).count()).toBe(0)
    await close()
  })
})

describe("record of changes", () => {
  test("who did what to what; filters are in the address", async () => {
    const { page, close } = await open("audit?type=user.added")
    const row = rowOf(page.getByRole("table", { name: "Record of changes" }), "username ada")
    await expect
      .poll(async () => (await row.getByRole("cell").allInnerTexts()).slice(1, 3))
      .toEqual([expect.stringContaining("admin"), "user.added"])
    await page.getByLabel("Who").selectOption("ada")
    await page.waitForURL("**/audit?*who=ada*")
    await page.getByRole("heading", { name: "No such change" }).waitFor()
    await page.getByRole("button", { name: "Show every change" }).click()
    await rowOf(page, "team.created").first().waitFor()
    // What an unknown user did is not what everybody did.
    await page.goto(page.url().replace(/\?.*|$/, "?who=nobody"))
    await page.getByText("This server has no user “nobody”.").waitFor()
    expect(await page.getByRole("table", { name: "Record of changes" }).count()).toBe(0)
    await close()
  })

  test("goes on page after page", async () => {
    for (let count = 0; count < 26; count += 1) {
      const { id } = await makeKey(`short ${count}`, "ada")
      await heddle.send("DELETE", `/v1/organization/api_keys/${id}`)
    }
    const { page, close } = await open("audit")
    await expect.poll(() => page.getByRole("row").count()).toBe(51)
    await page.getByRole("button", { name: "Show more changes" }).click()
    await expect.poll(() => page.getByRole("row").count()).toBeGreaterThan(52)
    await close()
  })

  test("tells a member whom to ask, and sends the server no request", async () => {
    const visit = await openAsMember("audit")
    await visit.page.getByText("The record of changes is for administrators.").waitFor()
    expect(visit.requests.filter((url) => url.includes("audit_logs"))).toEqual([])
    await visit.close()
  })
})

test("a refused request appears by itself, with what the server answered it", async () => {
  const { page, close } = await open("refused")
  await page.getByRole("heading", { name: "Refused requests" }).waitFor()
  expect(await statusOf("wrong")).toBe(401)
  const row = rowOf(page, "/v1/organization/me").first()
  await row.getByText("sender not known").waitFor()
  expect((await row.getByRole("cell").allInnerTexts())[1]).toBe("401")
  await close()
})

test("health: each part of the server, its version and its addresses", async () => {
  const { page, close } = await open("server")
  const { trace_server_version: version } = await heddle.send<{ trace_server_version: string }>("GET", "/server_info")
  await page.getByText(version, { exact: true }).waitFor()
  for (const part of ["Catalog", "Reader of training data", "Engine", "Room on the disk"]) {
    await rowOf(page, part).getByText("works").waitFor()
  }
  await page.getByText(`${heddle.url}/v1`, { exact: true }).waitFor()
  await close()
})

describe("this project", () => {
  test("it is deleted once its name is typed; the pages of a new one of that name are empty", async () => {
    const doomed = { entity: "local", name: "doomed" }
    const [started_at, ended_at] = ["2026-03-01T00:00:00Z", "2026-03-01T00:00:01Z"]
    const call = { project_id: "local/doomed", op_name: "farewell", started_at, ended_at, attributes: {}, inputs: {} }
    await heddle.send("POST", "/v2/local/doomed/calls/complete", {
      batch: [{ ...call, id: randomUUID(), trace_id: randomUUID(), output: null, summary: {} }],
    })
    const { page, close } = await signedIn(browser, heddle, "/local/doomed/traces")
    await page.getByText("farewell").first().waitFor()
    await page.getByRole("link", { name: "Usage & settings" }).click()
    await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "This project" }).click()
    await page.getByRole("button", { name: "Delete project…" }).click()
    const question = page.getByRole("dialog")
    const remove = question.getByRole("button", { name: "Delete project" })
    await question.getByLabel("To go on, type doomed").fill("doom")
    expect(await remove.isDisabled()).toBe(true)
    await question.getByRole("button", { name: "Leave it" }).click()
    await page.getByRole("button", { name: "Delete project…" }).click()
    expect(await question.getByLabel("To go on, type doomed").inputValue()).toBe("")
    await question.getByLabel("To go on, type doomed").fill("doomed")
    await remove.click()
    await page.waitForURL(`${heddle.url}/`)
    await page.getByRole("link", { name: "support" }).first().waitFor()
    await page.getByRole("link", { name: "doomed" }).waitFor({ state: "detached" })
    await heddle.send("POST", "/v1/projects", doomed)
    await page.goto(`${heddle.url}/local/doomed/traces`)
    await page.getByText("No traces yet").waitFor()
    await close()
  })

  test("calls are kept for so many days, after a question that counts what goes when they are fewer", async () => {
    const dayMs = 24 * 60 * 60 * 1000
    const call = { project_id: "local/brief", op_name: "old", attributes: {}, inputs: {}, output: null, summary: {} }
    const batch = [100, 50, 1].map((days) => {
      const started_at = new Date(Date.now() - days * dayMs).toISOString()
      return { ...call, id: randomUUID(), trace_id: randomUUID(), started_at, ended_at: started_at }
    })
    await heddle.send("POST", "/v2/local/brief/calls/complete", { batch })
    const kept = async () =>
      (
        await heddle.send<{ retention_days: number | null }>("POST", "/project/ttl_settings/read", {
          project_id: "local/brief",
        })
      ).retention_days
    const { page, close } = await signedIn(browser, heddle, "/local/brief/settings/project")
    await page.getByText("For ever: a call stays until somebody deletes it.").waitFor()
    const change = page.getByRole("button", { name: "Change…" })
    await change.click()
    const form = page.getByRole("dialog", { name: "How long calls of local/brief are kept" })
    await form.getByLabel("For a number of days").check()
    await form.getByLabel("Days after the start of a call").fill("0")
    await form.getByText(/A whole number of days from 1 to/).waitFor()
    expect(await form.getByRole("button", { name: "Set" }).isDisabled()).toBe(true)
    await form.getByLabel("Days after the start of a call").fill("30")
    await form.getByRole("button", { name: "Set" }).click()
    const question = page.getByRole("dialog", { name: "Keep calls for 30 days only?" })
    await question.getByText("2 calls began more than 30 days ago.").waitFor()
    await question.getByRole("button", { name: "Leave it" }).click()
    expect(await kept()).toBeNull()
    await change.click()
    await form.getByLabel("For a number of days").check()
    await form.getByLabel("Days after the start of a call").fill("30")
    await form.getByRole("button", { name: "Set" }).click()
    await question.getByRole("button", { name: "Set the limit" }).click()
    await page.getByText("For 30 days: a call goes by itself, so long after its start.").waitFor()
    expect(await kept()).toBe(30)
    // Longer is nothing to ask about.
    await change.click()
    await form.getByLabel("Days after the start of a call").fill("60")
    await form.getByRole("button", { name: "Set" }).click()
    await page.getByText("For 60 days: a call goes by itself").waitFor()
    await change.click()
    await form.getByLabel("For ever").check()
    await form.getByRole("button", { name: "Set" }).click()
    await page.getByText("For ever: a call stays until somebody deletes it.").waitFor()
    expect(await kept()).toBeNull()
    await close()
  })

  test("a project that does not exist yet cannot be deleted", async () => {
    const { page, close } = await openAsMember("project")
    await page.getByText("There is no such project yet.").waitFor()
    expect(await page.getByRole("button", { name: "Delete project…" }).count()).toBe(0)
    await close()
  })
})

test("in both themes, wide and on a phone: nothing serious for axe, and nothing to scroll sideways", async () => {
  const { page, close } = await signedIn(browser, heddle, null)
  const pages = [
    ["keys", rowOf(page, "laptop")],
    ["sessions", rowOf(page, "this browser")],
    ["usage", page.locator('[data-drawn="true"]')],
    ["quotas", rowOf(page, "Stored")],
    ["members", rowOf(page, "See everything")],
    ["storage", rowOf(page, "support")],
    ["scoring", page.getByRole("heading", { name: "Scoring rules" })],
    ["outside", page.getByRole("heading", { name: "Keys" })],
    ["people", rowOf(page, "ada")],
    ["project", page.getByRole("heading", { name: "Keep calls" })],
    ["refused", page.getByRole("heading", { name: "Refused requests" })],
    ["audit", rowOf(page, "api_key").first()],
    ["server", rowOf(page, "Engine")],
  ] as const
  expect(await flawsOfPages(page, `${heddle.url}${home}/`, pages)).toEqual({})
  await close()
}, 180_000)

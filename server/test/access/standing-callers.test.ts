/** What is still answered, or read, when its caller's key, session or membership ends: SECURITY.md, "dead at once". */
import { once } from "node:events"
import http, { type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { untilCancelled } from "../../src/engines/fake-engine.ts"
import { TestBrowser } from "../support/browser.ts"
import { type Caller, callerOf } from "../support/test-app.ts"
import { groupsOf, newModel, openTrainingApp, type TrainingApp } from "../support/training-app.ts"

const soon = { timeout: 10_000, interval: 50 }

let opened: TrainingApp
/** Path of the events of a job that goes on for ever. */
let events: string
beforeAll(async () => {
  opened = await openTrainingApp()
  opened.fake.handlers.train = (_, call) => untilCancelled(call)
  await opened.app.server.listen({ host: "127.0.0.1", port: 0 })
  const { id: model_id } = await newModel(opened.acme)
  const { body } = await opened.acme.post("/v1/preview/training-jobs", {
    model_id,
    trajectory_groups: groupsOf([0, 1]),
  })
  events = `/v1/preview/training-jobs/${(body as { id: string }).id}/events`
})
afterAll(() => opened.close())

interface NewKey {
  id: string
  value: string
}

async function newKey(more: object = {}): Promise<NewKey> {
  const { body } = await opened.acme.post("/v1/organization/api_keys", { name: "standing", ...more })
  return body as NewKey
}

const revoked = async ({ id }: NewKey) =>
  expect((await opened.acme.delete(`/v1/organization/api_keys/${id}`)).status).toBe(200)

const withKey = (value: string) => ({ authorization: `Bearer ${value}` })

function begun(method: "GET" | "POST", path: string, headers: Record<string, string>) {
  const { port } = opened.app.server.server.address() as AddressInfo
  return http.request({ port, path, method, agent: false, headers })
}

interface Followed {
  isOpen: boolean
  response: IncomingMessage
}

async function follow(headers: Record<string, string>): Promise<Followed> {
  const request = begun("GET", events, { accept: "text/event-stream", ...headers }).end()
  const [response] = (await once(request, "response")) as [IncomingMessage]
  expect(response.statusCode).toBe(200)
  const followed = { isOpen: true, response }
  response.on("error", () => undefined).on("close", () => (followed.isOpen = false))
  response.resume()
  return followed
}

/** The stream breaks, so that no client takes it for whole. */
async function breaks(followed: Followed): Promise<void> {
  await expect.poll(() => followed.isOpen, soon).toBe(false)
  expect(followed.response.complete).toBe(false)
}

describe("a stream of events ends soon", () => {
  test("after its key was revoked, and that of another key goes on", async () => {
    const [one, other] = [await newKey(), await newKey()]
    const [ofOne, ofOther] = [await follow(withKey(one.value)), await follow(withKey(other.value))]
    await revoked(one)
    await breaks(ofOne)
    await sleep(2_500)
    expect(ofOther.isOpen).toBe(true)
    ofOther.response.destroy()
  })

  test("after its key has expired", async () => {
    const key = await newKey({ expires_at: new Date(Date.now() + 3_000).toISOString() })
    const followed = await follow(withKey(key.value))
    expect(followed.isOpen).toBe(true)
    await breaks(followed)
  })

  test("after its session was ended", async () => {
    const browser = new TestBrowser(opened)
    await browser.signIn((await newKey()).value)
    const followed = await follow({ cookie: browser.cookie })
    expect((await browser.page("DELETE", "/v1/session")).status).toBe(200)
    await breaks(followed)
  })

  test("after its user has left the team, or was disabled", async () => {
    const [member, disabled] = [await newMember("parting"), await newMember("disabled")]
    const [ofMember, ofDisabled] = [await follow(withKey(member.key)), await follow(withKey(disabled.key))]
    await opened.admin.delete(`/v1/organization/teams/acme/members/parting`)
    await opened.admin.post("/v1/organization/users/disabled", { disabled: true })
    await breaks(ofMember)
    await breaks(ofDisabled)
  })

  test("after its user got a lower role in a project", async () => {
    const member = await newMember("lowered")
    const followed = await follow(withKey(member.key))
    await giveRole("lowered", "viewer")
    await breaks(followed)
  })

  test("but not after its user came into another team, or got a higher role in a project", async () => {
    const [arriving, raised, free] = [
      await newMember("arriving"),
      await newMember("raised", "viewer"),
      await newMember("free", "member"),
    ]
    await giveRole("free", "viewer")
    const followed = [
      await follow(withKey(arriving.key)),
      await follow(withKey(raised.key)),
      await follow(withKey(free.key)),
    ]
    await opened.admin.post("/v1/organization/teams", { name: "another" })
    await opened.admin.post("/v1/organization/teams/another/members", { username: "arriving" })
    await giveRole("raised", "member")
    expect((await opened.acme.delete("/v1/projects/acme/tests/roles/free")).status).toBe(200)
    await sleep(2_500)
    expect(followed.map(({ isOpen }) => isOpen)).toEqual([true, true, true])
    for (const { response } of followed) response.destroy()
  })
})

test("an upload is read no further soon after its key was revoked", async () => {
  const key = await newKey()
  const upload = begun("POST", "/import/calls?project_id=acme/imported&format=jsonl", withKey(key.value))
  const isBroken = once(upload, "error")
  upload.write("{}\n")
  // The project is made once the request is let in.
  const names = async () => JSON.stringify((await opened.acme.get("/v1/projects")).body)
  await expect.poll(names, soon).toContain('"imported"')
  await revoked(key)
  const slowly = setInterval(() => upload.write("{}\n"), 100)
  await expect(isBroken).resolves.toBeDefined()
  clearInterval(slowly)
}, 15_000)

/** A user in acme's team. */
async function newMember(username: string, role = "member"): Promise<Caller> {
  await opened.admin.post("/v1/organization/users", { username })
  await opened.admin.post("/v1/organization/teams/acme/members", { username, role })
  const { body } = await opened.admin.post("/v1/organization/api_keys", { name: "standing", username })
  return callerOf(() => opened.app, (body as NewKey).value, username)
}

/** In the project of the job. */
async function giveRole(username: string, role: string): Promise<void> {
  const url = `/v1/projects/acme/tests/roles/${username}`
  const answer = await opened.app.server.inject({
    method: "PUT",
    url,
    headers: withKey(opened.acme.key),
    payload: { role },
  })
  expect(answer.statusCode).toBe(200)
}

/** `/files/resolve_url` and the addresses that it returns; `/link_to_registry`. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest"
import {
  type EvaluationApp,
  type EvaluationCaller,
  evaluationCaller,
  openEvaluationApp,
} from "../support/evaluation-app.ts"

let opened: EvaluationApp
let acme: EvaluationCaller
beforeAll(async () => {
  opened = await openEvaluationApp()
  acme = opened.acme
})
afterAll(() => opened.close())
afterEach(() => {
  vi.useRealTimers()
})

async function upload(project: string, content: string): Promise<string> {
  const form = [
    "--b",
    'Content-Disposition: form-data; name="project_id"',
    "",
    project,
    "--b",
    'Content-Disposition: form-data; name="file"; filename="x"',
    "Content-Type: application/octet-stream",
    "",
    content,
    "--b--",
    "",
  ].join("\r\n")
  const answer = await acme.post("/file/create", form, { "content-type": "multipart/form-data; boundary=b" })
  expect(answer.status).toBe(200)
  return (answer.body as { digest: string }).digest
}

const publish = async (project_id: string, object_id: string, val: unknown) => {
  const answer = await acme.post("/obj/create", { obj: { project_id, object_id, val } })
  expect(answer.status).toBe(200)
}

const resolve = (project_id: string, uris: string[], headers: Record<string, string> = {}) =>
  acme.post("/files/resolve_url", { project_id, uris }, headers)

async function urls(project: string, uris: string[]): Promise<string[]> {
  const answer = await resolve(project, uris)
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  return (answer.body as { download_urls: string[] }).download_urls
}

/** Fetches an address without a key. */
const fetchUrl = (url: string) => opened.app.server.inject({ method: "GET", url: new URL(url).pathname })

test("a file comes with its length, whatever coding its reader takes", async () => {
  const project_id = acme.newProject()
  const digest = await upload(project_id, "compressible ".repeat(1000))
  const headers = { "accept-encoding": "gzip", authorization: `Bearer ${acme.key}` }
  const [address = ""] = await urls(project_id, [digest])
  const answers = await Promise.all([
    opened.app.server.inject({ method: "POST", url: "/file/content", headers, payload: { project_id, digest } }),
    opened.app.server.inject({ url: new URL(address).pathname, headers }),
  ])
  for (const { statusCode, headers: sent } of answers) {
    expect([statusCode, sent["content-length"], sent["content-encoding"]]).toEqual([200, "13000", undefined])
  }
})

describe("files.resolve_url of weave 0.54.0", () => {
  test("a digest or the ref of an object that holds a file gives an address that needs no key", async () => {
    const project = acme.newProject()
    const [first, second] = [await upload(project, "one"), await upload(project, "<script>two</script>")]
    await publish(project, "media", { _type: "CustomWeaveType", files: { "metadata.json": first, content: second } })
    await publish(project, "single", { deep: [{ files: { "x.png": first } }] })
    const found = await urls(project, [
      first,
      `weave:///${project}/object/media:latest`,
      `weave:///${project}/object/single:v0/key/deep/index/0`,
    ])
    const answers = await Promise.all(found.map(fetchUrl))
    expect(answers.map((answer) => [answer.statusCode, answer.payload])).toEqual([
      [200, "one"],
      [200, "<script>two</script>"],
      [200, "one"],
    ])
    expect(answers[1]?.headers).toMatchObject({
      "content-type": "application/octet-stream",
      "content-disposition": "attachment",
      "content-security-policy": "sandbox",
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-store",
    })
    expect(await urls(project, [])).toEqual([])
  })

  test("the address is the one under which the client reached the server", async () => {
    const project = acme.newProject()
    const digest = await upload(project, "one")
    const answer = await opened.app.server.inject({
      method: "POST",
      url: "/traces/files/resolve_url",
      headers: {
        authorization: `Bearer ${acme.key}`,
        "content-type": "application/json",
        host: "heddle.example:8443",
        "x-forwarded-proto": "https, http",
      },
      payload: JSON.stringify({ project_id: project, uris: [digest] }),
    })
    const [url] = (answer.json() as { download_urls: string[] }).download_urls
    expect(url).toMatch(/^https:\/\/heddle\.example:8443\/traces\/files\/download\/[\w-]+\.[\w-]{43}$/)
    expect((await fetchUrl(url ?? "")).payload).toBe("one")
  })

  test("it ends after a quarter of an hour, and cannot be altered", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-05-01T12:00:00Z") })
    const project = acme.newProject()
    const digest = await upload(project, "one")
    const other = await upload(project, "two")
    const answer = await resolve(project, [digest, other])
    expect(answer.body).toMatchObject({ expires_at: "2026-05-01T12:15:00.000Z" })
    const [url = "", second = ""] = (answer.body as { download_urls: string[] }).download_urls
    vi.setSystemTime(new Date("2026-05-01T12:14:59Z"))
    expect((await fetchUrl(url)).statusCode).toBe(200)
    const [, signature] = second.split(".").slice(-2)
    for (const forged of [
      `${url.slice(0, -43)}${signature}`,
      `${url}x`,
      `${url}.x`,
      `${url}~`,
      url.slice(0, -1),
      url.replace(/\.[^.]*$/, ""),
    ]) {
      const refused = await fetchUrl(forged)
      expect([refused.statusCode, refused.json()]).toMatchObject([404, { reason: expect.stringContaining("resolve") }])
    }
    vi.setSystemTime(new Date("2026-05-01T12:15:00Z"))
    const ended = await fetchUrl(url)
    expect([ended.statusCode, ended.json()]).toMatchObject([
      404,
      { reason: expect.stringContaining("ended at 2026-05") },
    ])
  })

  test("security 5.2: it opens nothing once the key that made it is revoked; those of other keys stay", async () => {
    const project = acme.newProject()
    const digest = await upload(project, "one")
    const made = await acme.post("/v1/organization/api_keys", { name: "of a colleague who left" })
    const { id, value } = made.body as { id: string; value: string }
    const leaver = evaluationCaller(() => opened.app, { ...opened.admin, key: value, entity: acme.entity })
    const [own = ""] = await urls(project, [digest])
    const answer = await leaver.post("/files/resolve_url", { project_id: project, uris: [digest] })
    const [theirs = ""] = (answer.body as { download_urls: string[] }).download_urls
    expect((await fetchUrl(theirs)).payload).toBe("one")
    expect((await acme.delete(`/v1/organization/api_keys/${id}`)).status).toBe(200)
    const refused = await fetchUrl(theirs)
    expect([refused.statusCode, refused.json()]).toMatchObject([
      404,
      {
        reason:
          "the key that made this address was revoked, or its user may not read there any more; resolve the file again",
      },
    ])
    expect((await fetchUrl(own)).payload).toBe("one")
  })

  test("security 5.3: whoever leaves the team takes no address along", async () => {
    const project = acme.newProject()
    const digest = await upload(project, "one")
    const leaver = await opened.addColleague("leaves-the-team")
    const answer = await leaver.post("/files/resolve_url", { project_id: project, uris: [digest] })
    const [theirs = ""] = (answer.body as { download_urls: string[] }).download_urls
    expect((await fetchUrl(theirs)).payload).toBe("one")
    const left = await opened.admin.delete("/v1/organization/teams/acme/members/leaves-the-team")
    expect([left.status, (await fetchUrl(theirs)).statusCode]).toEqual([200, 404])
  })

  test("a uri that names no file is 400, an unknown file 404, too many uris 400", async () => {
    const project = acme.newProject()
    const digest = await upload(project, "one")
    await publish(project, "none", { a: 1 })
    await publish(project, "two", { files: { a: digest, b: digest } })
    for (const uri of [
      "s3://bucket/key",
      "",
      `weave:///${project}/call/1`,
      `weave:///${project}/object/none:v0`,
      `weave:///${project}/object/two:v0`,
    ]) {
      const answer = await resolve(project, [digest, uri])
      expect([uri, answer.status, answer.body]).toMatchObject([uri, 400, { error_type: "ValueError" }])
    }
    for (const uri of ["x".repeat(43), `weave:///${project}/object/nothing:v0`]) {
      expect([uri, (await resolve(project, [uri])).status]).toEqual([uri, 404])
    }
    expect(
      (
        await resolve(
          project,
          Array.from({ length: 1001 }, () => digest),
        )
      ).status,
    ).toBe(400)
  })

  test("security 5.3: another team's files are out of reach", async () => {
    const project = acme.newProject()
    const digest = await upload(project, "one")
    await publish(project, "media", { files: { content: digest } })
    const { rival } = opened
    const own = rival.newProject()
    await rival.post("/obj/create", { obj: { project_id: own, object_id: "x", val: 1 } })
    const ask = async (project_id: string, uri: string) =>
      (await rival.post("/files/resolve_url", { project_id, uris: [uri] })).status
    expect(await ask(project, digest)).toBe(403)
    expect(await ask(own, digest)).toBe(404)
    expect(await ask(own, `weave:///${project}/object/media:v0`)).toBe(403)
  })
})

describe("link_prompt_to_registry of weave 0.54.0", () => {
  const link = (ref: string, target: object, aliases: string[] = []) =>
    acme.post("/link_to_registry", { ref, target, aliases })

  test("the version becomes one of the collection, with its aliases", async () => {
    const project = acme.newProject()
    const target = { portfolio_name: "greetings", entity_name: acme.entity, project_name: "wandb-registry-prompts" }
    await publish(project, "hello", { content: "Hello {name}", n: 1 })
    await publish(project, "hello", { content: "Hi {name}", n: 2 })
    const first = await link(`weave:///${project}/object/hello:v0`, target, ["production"])
    expect([first.status, first.body]).toEqual([200, { version_index: 0 }])
    expect((await link(`weave:///${project}/object/hello:latest`, target, ["staging"])).body).toEqual({
      version_index: 1,
    })
    expect((await link(`weave:///${project}/object/hello:v0`, target)).body).toEqual({ version_index: 0 })
    const base = `weave:///${acme.entity}/wandb-registry-prompts/object/greetings`
    const read = await acme.post("/refs/read_batch", { refs: [`${base}:production`, `${base}:staging`] })
    expect(read.body).toEqual({
      vals: [
        { content: "Hello {name}", n: 1 },
        { content: "Hi {name}", n: 2 },
      ],
    })
  })

  test("bad refs, aliases, names and other teams are refused", async () => {
    const project = acme.newProject()
    const target = { portfolio_name: "c", entity_name: acme.entity, project_name: "r" }
    await publish(project, "x", { a: 1 })
    const ref = `weave:///${project}/object/x:v0`
    const statuses = [
      await link("nonsense", target),
      await link(`${ref}/key/a`, target),
      await link(`weave:///${project}/object/x:v9`, target),
      await link(ref, target, ["latest"]),
      await link(ref, { ...target, portfolio_name: "a/b" }),
      await link(ref, { ...target, entity_name: "rival" }),
      await link(ref, {}),
    ].map((answer) => answer.status)
    expect(statuses).toEqual([400, 400, 404, 422, 422, 403, 422])
    const foreign = await opened.rival.post("/link_to_registry", { ref, target: { ...target, entity_name: "rival" } })
    expect(foreign.status).toBe(403)
  })
})

import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { systemCheck } from "../../src/wire/training/health.ts"
import { openTrainingApp, type TrainingApp } from "../support/training-app.ts"

let opened: TrainingApp
beforeAll(async () => (opened = await openTrainingApp()))
afterAll(() => opened.close())

const get = (url: string, headers: Record<string, string> = {}) =>
  opened.app.server.inject({ method: "GET", url, headers })

test("training-api 1.5: health", async () => {
  const answer = await get("/v1/health")
  expect([answer.statusCode, answer.json()]).toEqual([200, { status: "ok" }])
})

test("training-api 1.5: system-check is 200 while all parts work, and 503 with the same body when one fails", async () => {
  opened.fake.handlers.status = () => ({
    running: 0,
    waiting: 0,
    training: 0,
    loading: 0,
    progress: 0,
    resident_bytes: 1,
  })
  const sound = await get("/v1/system-check")
  expect(sound.statusCode).toBe(200)
  expect(systemCheck.strict().parse(sound.json())).toMatchObject({
    api: true,
    database: true,
    cpu_queue: { success: true, error: null },
    gpu_queue: { success: true, error: null },
    disk: { success: true, error: null },
  })
  opened.fake.handlers.status = () => {
    throw new Error("out of order")
  }
  const broken = await opened.acme.get("/v1/system-check")
  expect(broken).toMatchObject({
    status: 503,
    body: { database: true, gpu_queue: { success: false, error: expect.stringContaining("out of order") } },
  })
})

test("law 8: strangers who ask for a system-check at the same time share one look at the engine", async () => {
  let looks = 0
  opened.fake.handlers.status = () => {
    looks += 1
    return { running: 0, waiting: 0, training: 0, loading: 0, progress: 0, resident_bytes: 1 }
  }
  const answers = await Promise.all(Array.from({ length: 30 }, () => get("/v1/system-check")))
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]))
  // Some of the requests may begin only when the first look has ended.
  expect(looks).toBeLessThan(15)
})

test("system-check tells whoever has no key that lives what fails, and not why: reasons name addresses", async () => {
  opened.fake.handlers.status = () => {
    throw new Error("cannot reach the engine at tls://gpu.internal:8090")
  }
  for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: "nothing" }]) {
    const answer = await get("/v1/system-check", headers)
    expect(answer.statusCode).toBe(503)
    expect(systemCheck.strict().parse(answer.json())).toMatchObject({
      gpu_queue: { success: false, error: "this fails; ask with a key to be told why" },
      engines: [{ success: false, error: "this fails; ask with a key to be told why" }],
    })
    expect(answer.body).not.toContain("gpu.internal")
  }
})

test("unknown paths and methods: 404 in the dialect of the area", async () => {
  expect((await get("/v1/preview/nothing")).json()).toEqual({ detail: "no such path: GET /v1/preview/nothing" })
  expect((await get("/v1/moderations")).json().error.message).toBe("no such path: GET /v1/moderations")
  const hint = "; the base URL of OpenAI and ART clients ends with /v1"
  expect((await get("/models")).json().error.message).toBe(`no such path: GET /models${hint}`)
  expect((await get("/preview/models")).json()).toEqual({ detail: `no such path: GET /preview/models${hint}` })
  expect((await get("/v1/files/a/b/c")).json()).toMatchObject({ error: { code: "not_found" } })
})

test("every answer carries a request id", async () => {
  expect((await get("/v1/health")).headers["x-request-id"]).toMatch(/^req_/)
  expect((await get("/v1/nothing")).headers["x-request-id"]).toMatch(/^req_/)
})

test("the reference page asks nothing of another host", async () => {
  const page = await get("/docs/")
  expect(page.statusCode).toBe(200)
  expect(page.headers["content-security-policy"]).toContain("default-src 'self'")
  expect(page.headers["content-security-policy"]).not.toMatch(/https?:|upgrade-insecure/)
  expect(page.payload).not.toMatch(/(src|href)="(https?:)?\/\//)
})

describe("law 8: the document is the same bytes for everybody, and is not made again for each who asks", () => {
  const decoders = { zstd: zstdDecompressSync, gzip: gunzipSync, br: brotliDecompressSync }

  test("it comes in each coding, and 304 to who has it", async () => {
    const url = "/openapi.json"
    const plain = await get(url)
    expect([plain.headers["content-type"], plain.headers["cache-control"]]).toEqual([
      "application/json; charset=utf-8",
      "no-cache",
    ])
    for (const [coding, decode] of Object.entries(decoders)) {
      const encoded = await get(url, { "accept-encoding": coding })
      expect([encoded.headers["content-encoding"], encoded.headers.vary]).toEqual([coding, "accept-encoding"])
      expect(decode(encoded.rawPayload).toString()).toBe(plain.payload)
    }
    expect((await get(url, { "accept-encoding": "gzip, deflate, br" })).headers["content-encoding"]).toBe("gzip")
    expect((await get(url, { "accept-encoding": "deflate" })).payload).toBe(plain.payload)
    const known = await get(url, { "if-none-match": String(plain.headers.etag) })
    expect([known.statusCode, known.payload]).toEqual([304, ""])
    expect((await get(url, { "if-none-match": '"other"' })).payload).toBe(plain.payload)
  })

  test("nothing is serialised for a request", async () => {
    const serialised = vi.spyOn(JSON, "stringify")
    expect((await get("/openapi.json")).statusCode).toBe(200)
    const large = serialised.mock.results.filter(({ value }) => String(value).length > 100_000)
    serialised.mockRestore()
    expect(large).toEqual([])
  })

  test.each(["/docs/yaml", "/docs/json"])("it has one address: %s is none", async (url) => {
    const answer = await get(url)
    expect([answer.statusCode, answer.json()]).toMatchObject([404, { reason: `no such path: GET ${url}` }])
  })
})

test("the OpenAPI document has every route, with its parameters, body and errors", async () => {
  const document = (await get("/openapi.json")).json() as {
    openapi: string
    paths: Record<
      string,
      Record<string, { security?: object; requestBody?: object; responses: object; operationId: string }>
    >
  }
  expect(document.openapi).toBe("3.1.0")
  const operations = Object.entries(document.paths).flatMap(([url, methods]) =>
    Object.keys(methods).map((method) => `${method} ${url}`),
  )
  const expected = opened.app.routes.map((route) => {
    const url = route.path.replaceAll(/:(\w+)/g, "{$1}").replace("*", "{path}")
    return `${route.method.toLowerCase()} ${url}`
  })
  expect(operations.toSorted()).toEqual(expected.toSorted())
  const create = document.paths["/v1/preview/training-jobs"]?.["post"]
  expect(create?.security).toEqual([{ HTTPBearer: [] }])
  expect(JSON.stringify(create?.requestBody)).toContain('"trajectory_groups"')
  expect(Object.keys(create?.responses ?? {}).join(" ")).toBe("200 400 401 403 404 408 409 413 415 422 429 503 507")
  expect(document.paths["/v1/health"]?.["get"]?.security).toBeUndefined()
  expect(JSON.stringify(document.paths["/v1/files"]?.["post"]?.requestBody)).toContain("multipart/form-data")
  const ids = Object.values(document.paths).flatMap((methods) => Object.values(methods).map((each) => each.operationId))
  expect(new Set(ids).size).toBe(ids.length)
})

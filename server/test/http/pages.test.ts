/** The addresses that answer with the web interface, and its files. The build itself is tested in a browser. */
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { brotliCompressSync, brotliDecompressSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { reservedNames } from "../../src/wire/platform/reserved-names.ts"
import { openTestApp, type TestApp } from "../support/test-app.ts"

const script = `console.log("a page")\n`.repeat(200)
const template = `<!doctype html><html data-theme="{{theme}}"><base href="{{base}}"><meta nonce="{{nonce}}">a page</html>`

let folder: string
let opened: TestApp
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-pages-"))
  await mkdir(path.join(folder, "assets"))
  await writeFile(path.join(folder, "index.html"), template)
  await writeFile(path.join(folder, "favicon.svg"), "<svg/>")
  await writeFile(path.join(folder, "assets/main-1a2b3c.js"), script)
  await writeFile(path.join(folder, "assets/main-1a2b3c.js.br"), brotliCompressSync(script))
  opened = await openTestApp({ pagesDir: folder, prefix: "/heddle" })
})
afterAll(async () => {
  await opened.close()
  await rm(folder, { recursive: true, force: true })
})

const get = (url: string, headers: Record<string, string> = {}) =>
  opened.app.server.inject({ method: "GET", url, headers })
/** Asks for an address as a browser does for its address bar. */
const open = (url: string, headers: Record<string, string> = {}) =>
  get(url, { accept: "text/html,application/xhtml+xml,*/*;q=0.8", ...headers })

describe("addresses", () => {
  test.each([
    ["/", "./"],
    ["/login", "./"],
    ["/settings/health", "../"],
    ["/acme/demo", "../"],
    ["/acme/demo/", "../../"],
    ["/acme/demo/traces?q=op%20is%20f", "../../"],
    ["/acme/demo/objects/prompt/versions/v1", "../../../../../"],
    ["/acme/v1/models", "../../"],
    ["/acme/demo/conversations/c-1", "../../../"],
    ["/acme/demo/r/call/0190", "../../../../"],
    ["/heddle/acme/demo", "../"],
    ["/heddle/", "./"],
  ])("%s is a page, and its base is %s", async (url, base) => {
    const answer = await open(url)
    expect([answer.statusCode, answer.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"])
    expect(answer.payload).toContain(`<base href="${base}">`)
  })

  test("an address without its last slash leads to the one with it, where relative files are found", async () => {
    const answer = await open("/heddle")
    expect([answer.statusCode, answer.headers.location]).toEqual([302, "./heddle/"])
  })

  test("an address that is no page is 404 with the web interface, which says so", async () => {
    const answer = await open("/acme/demo/tracess")
    expect([answer.statusCode, answer.payload.includes("a page")]).toEqual([404, true])
  })

  test.each(["/call/read", "/v1/nothing", "/v2/acme", "/otel/x", "/graphql", "/calls/stream_query", "/traces/x/y"])(
    "%s belongs to the API: 404 in JSON, to a browser too",
    async (url) => {
      const answer = await open(url)
      expect(answer.statusCode).toBe(404)
      expect(JSON.stringify(answer.json())).toContain("no such path")
    },
  )

  test.each([{}, { accept: "*/*" }, { accept: "application/json" }])(
    "a client that asks for no HTML (%j) gets JSON 404 where a page is",
    async (headers) => {
      const answer = await get("/acme/demo/models", headers)
      expect(answer.statusCode).toBe(404)
      expect(answer.json()).toMatchObject({ reason: "no such path: GET /acme/demo/models" })
    },
  )

  test("a client at the root gets the address of the reference", async () => {
    expect((await get("/")).json()).toEqual({ name: "Heddle", docs: "/docs/", openapi: "/openapi.json" })
  })

  test("training-api 0: a base URL under any prefix still reaches the API", async () => {
    expect((await get("/acme/demo/v1/health")).statusCode).toBe(200)
    expect((await open("/some/where/v1/health")).statusCode).toBe(200)
  })
})

describe("the policy of a page", () => {
  test("allows own files only, no inline script and no frame around it; the nonce is new each time", async () => {
    const [first, second] = [await open("/acme/demo"), await open("/acme/demo")]
    const nonce = /<meta nonce="([^"]+)">/.exec(first.payload)?.[1]
    expect(first.headers["content-security-policy"]).toBe(
      "default-src 'none'; script-src 'self'; " +
        `style-src 'self' 'nonce-${nonce}'; img-src 'self' data: blob:; media-src 'self' data:; font-src 'self'; ` +
        "connect-src 'self'; worker-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(second.payload).not.toContain(nonce)
    expect(first.headers).toMatchObject({
      "cache-control": "no-cache",
      "referrer-policy": "same-origin",
      "x-content-type-options": "nosniff",
      "cross-origin-opener-policy": "same-origin",
    })
  })

  test.each([
    ["heddle_theme=dark", "dark"],
    ["a=b; heddle_theme=light; c=d", "light"],
    ['heddle_theme="><script>', "system"],
    ["", "system"],
  ])("the theme of the cookie %j is %s", async (cookie, theme) => {
    expect((await open("/", { cookie })).payload).toContain(`data-theme="${theme}"`)
  })
})

describe("files", () => {
  test("the icon is kept for a day: a browser asks for it whenever the address changes", async () => {
    expect((await get("/favicon.svg")).headers["cache-control"]).toBe("public, max-age=86400")
  })

  test("a file whose name holds its digest is kept for ever, and comes compressed", async () => {
    const plain = await get("/assets/main-1a2b3c.js")
    expect(plain.payload).toBe(script)
    expect(plain.headers).toMatchObject({
      "cache-control": "public, max-age=31536000, immutable",
      "content-type": "application/javascript; charset=utf-8",
      "x-content-type-options": "nosniff",
    })
    const packed = await get("/heddle/assets/main-1a2b3c.js", { "accept-encoding": "gzip, br" })
    expect(packed.headers["content-encoding"]).toBe("br")
    expect(brotliDecompressSync(packed.rawPayload).toString()).toBe(script)
  })

  test.each([
    ["/assets/none.js", 404],
    ["/assets/", 404],
    ["/assets/..%2findex.html", 400],
    ["/assets/.env", 400],
  ])("%s: %i in JSON", async (url, status) => {
    const answer = await open(url)
    expect([answer.statusCode, answer.headers["content-type"]]).toEqual([status, "application/json; charset=utf-8"])
  })
})

test("until the pages are built a browser reads that they are not, and afterwards it gets the page", async () => {
  const built = path.join(folder, "index.html")
  await rename(built, `${built}.later`)
  const before = await open("/acme/demo")
  expect(before.statusCode).toBe(503)
  expect(before.payload).toContain("The pages are being built")
  expect(before.payload).toContain('http-equiv="refresh"')
  await rename(`${built}.later`, built)
  expect((await open("/acme/demo")).statusCode).toBe(200)
})

describe("names of entities", () => {
  test("every first segment of a route is reserved", async () => {
    const segments = opened.app.routes.map((route) => route.path.split("/")[1] ?? "")
    expect(segments.filter((segment) => !reservedNames.includes(segment))).toEqual([])
    for (const name of ["docs", "openapi.json", "assets", "login", "settings"]) expect(reservedNames).toContain(name)
  })

  test.each(["traces", "admin"])("a user or team of a reserved name is refused: %s", async (name) => {
    const message = `"${name}" is the address of a part of the server; choose another name`
    for (const [url, field] of [
      ["/v1/organization/users", "username"],
      ["/v1/organization/teams", "name"],
    ] as const) {
      const answer = await opened.admin.post(url, { [field]: name })
      expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ["body", field], msg: message }] } })
    }
    expect((await opened.admin.post("/v1/organization/teams", { name: `${name}s` })).status).toBe(200)
  })
})

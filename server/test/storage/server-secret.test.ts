/** The file `server-secret` of a data folder is damaged, replaced or lost. */
import { createHmac } from "node:crypto"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createApp } from "../../src/app.ts"
import { copyCatalogTemplate } from "../support/catalog-template.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"
import { testConfig } from "../support/test-app.ts"

describe("security 5.2: a start with another secret than the folder's is refused, and the old one is taken again", () => {
  let dataDir: string
  let file: string
  let own: string
  beforeAll(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), "heddle-secret-"))
    file = path.join(dataDir, "server-secret")
    await copyCatalogTemplate(dataDir)
    await start()
    own = await readFile(file, "utf8")
  })
  afterAll(() => rm(dataDir, { recursive: true, force: true }))

  async function start(): Promise<void> {
    const app = await createApp(testConfig(dataDir))
    await app.close()
  }

  const wayOut =
    "Restore it from a backup of the folder. If there is none, delete it: the next start makes a new one, " +
    "and the addresses of files that were given out end"
  const damaged = "is damaged: it holds no 64 hexadecimal digits"

  test.each([
    ["zz", damaged],
    ["", damaged],
    ["0".repeat(63), damaged],
    ["0".repeat(65), damaged],
    ["A".repeat(64), damaged],
    [`${"0".repeat(64)}\n1`, damaged],
    ["0".repeat(64), "is another one than this data folder was used with"],
  ])("%j", async (text, why) => {
    await writeFile(file, text)
    await expect(start()).rejects.toThrow(new Error(`the file ${file} ${why}. ${wayOut}`))
  })

  test("the folder's own, with a line break behind it", async () => {
    await writeFile(file, `${own}\n`)
    await start()
  })
})

describe("a folder whose secret was lost", () => {
  let opened: EvaluationApp
  // Embedded, because a catalog in PostgreSQL belongs to the folder with the first secret (start.test.ts).
  beforeAll(async () => (opened = await openEvaluationApp({ postgresUrl: null })))
  afterAll(() => opened.close())

  test("gets a new one: all is there, and addresses of files that were given out end", async () => {
    const project_id = opened.acme.newProject()
    const form = `--b\r\ncontent-disposition: form-data; name="project_id"\r\n\r\n${project_id}\r\n--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\none\r\n--b--\r\n`
    const stored = await opened.acme.post("/file/create", form, { "content-type": "multipart/form-data; boundary=b" })
    const { digest } = stored.body as { digest: string }
    const address = async () => {
      const answer = await opened.acme.post("/files/resolve_url", { project_id, uris: [digest] })
      return new URL((answer.body as { download_urls: [string] }).download_urls[0]).pathname
    }
    const fetched = async (url: string) => (await opened.app.server.inject({ method: "GET", url })).statusCode
    const first = await address()
    expect(await fetched(first)).toBe(200)
    const file = path.join(opened.config.dataDir, "server-secret")
    await rm(file)
    await opened.restart()
    expect([await fetched(first), await fetched(await address())]).toEqual([404, 200])
    await opened.restart()
    expect(await readFile(file, "utf8")).toMatch(/^[0-9a-f]{64}$/)
  })

  test("an address that is signed with an empty secret opens nothing", async () => {
    const content = Buffer.from(JSON.stringify(["p", "d", Date.now() + 60_000, "k"])).toString("base64url")
    for (const text of ["file link", "file link of a key"]) {
      const signature = createHmac("sha256", "").update(`${text}\n${content}`).digest("base64url")
      const answer = await opened.app.server.inject({ method: "GET", url: `/files/download/${content}.${signature}` })
      expect(answer.statusCode).toBe(404)
    }
  })
})

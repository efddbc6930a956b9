/** Who makes, sees and removes backups, and what is refused. What is in them: server/test/storage/backups.test.ts. */
import { mkdir, readdir, writeFile } from "node:fs/promises"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { auditLogPage } from "../../src/wire/platform/audit-log.ts"
import { backup, backupList } from "../../src/wire/platform/backup.ts"
import { openTestApp, type TestApp } from "../support/test-app.ts"

const backups = "/v1/organization/backups"
const someName = "20260131T235959123Z"

let opened: TestApp
beforeAll(async () => (opened = await openTestApp()))
afterAll(() => opened.close())

const isEmbedded = process.env["HEDDLE_TEST_POSTGRES_URL"] === undefined
const listed = async () => backupList.parse((await opened.admin.get(backups)).body).data

describe("platform-wandb 15: backups", () => {
  test("members may not make, see or remove them", async () => {
    const refused = { status: 403, body: { error: { code: "forbidden" } } }
    expect(await opened.acme.post(backups)).toMatchObject(refused)
    expect(await opened.acme.get(backups)).toMatchObject(refused)
    expect(await opened.acme.delete(`${backups}/${someName}`)).toMatchObject(refused)
    expect(await listed()).toEqual([])
  })

  test.each([
    someName,
    "%2e%2e",
    "..%2fcatalog",
    "..%2f..",
    `${someName}%2f..%2f..`,
    `${someName}.partial`,
    "notes",
    "%00",
  ])("rule 4: %s is no backup, and nothing is removed", async (name) => {
    const { backupDir, dataDir } = opened.config
    await mkdir(path.join(backupDir, "notes"), { recursive: true })
    await mkdir(path.join(backupDir, `${someName}.partial`), { recursive: true })
    const before = [await readdir(dataDir), await readdir(backupDir)]
    expect(await opened.admin.delete(`${backups}/${name}`)).toMatchObject({ status: 404 })
    expect([await readdir(dataDir), await readdir(backupDir)]).toEqual(before)
    expect(await listed()).toEqual([])
  })

  test.runIf(isEmbedded)(
    "rules 5 and 7: one at a time, which is listed, and removed; each leaves its entries",
    async () => {
      const answers = await Promise.all([opened.admin.post(backups), opened.admin.post(backups)])
      expect(answers.map(({ status }) => status).toSorted((one, two) => one - two)).toEqual([200, 409])
      expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({
        error: { code: "conflict", message: "a backup is being made; make the next one when it is listed" },
      })
      const made = backup.parse(answers.find(({ status }) => status === 200)?.body)
      expect(made.name).toMatch(/^\d{8}T\d{9}Z$/)
      expect(made.created_at.replaceAll(/[-:.]/g, "")).toBe(made.name)
      expect(made.bytes).toBeGreaterThan(1_000_000)
      expect(await listed()).toEqual([made])
      expect(await opened.admin.delete(`${backups}/${made.name}`)).toMatchObject({
        status: 200,
        body: { name: made.name, deleted: true },
      })
      expect(await listed()).toEqual([])
      expect(await readdir(opened.config.backupDir)).not.toContain(made.name)
      expect((await opened.admin.delete(`${backups}/${made.name}`)).status).toBe(404)
      const types = "event_types[]=backup.created&event_types[]=backup.deleted"
      const { body } = await opened.admin.get(`/v1/organization/audit_logs?${types}`)
      const entries = auditLogPage.parse(body).data.map((entry) => [entry.type, entry.outcome, entry[entry.type]])
      expect(entries.toReversed()).toEqual([
        ["backup.created", "begun", { id: made.name }],
        ["backup.created", "succeeded", { id: made.name }],
        ["backup.deleted", "begun", { id: made.name }],
        ["backup.deleted", "succeeded", { id: made.name }],
      ])
    },
  )

  test.skipIf(isEmbedded)("rule 5: stores that are servers of their own are dumped with their tools", async () => {
    expect(await opened.admin.post(backups)).toMatchObject({
      status: 409,
      body: {
        error: { code: "conflict", message: expect.stringContaining("backed up by its own tools, such as pg_dump") },
      },
    })
    expect(await listed()).toEqual([])
  })

  test.each([
    ["half of it", '{"bytes":12'],
    ["nothing", ""],
    ["somebody else's", '{"backup":"full","tables":[]}'],
    ["no object", "null"],
    ["bytes that are no number", '{"bytes":"12","seconds":1}'],
  ])("rule 8: a backup.json with %s is named, with the way out", async (_what, text) => {
    const folder = path.join(opened.config.backupDir, someName)
    await mkdir(folder, { recursive: true })
    await writeFile(path.join(folder, "backup.json"), text)
    const answer = await opened.admin.get(backups)
    expect(answer).toMatchObject({ status: 409, body: { error: { code: "conflict" } } })
    const { message } = (answer.body as { error: { message: string } }).error
    expect(message).toContain(path.join(folder, "backup.json"))
    expect(message).toContain(`DELETE /v1/organization/backups/${someName}`)
    expect((await opened.admin.delete(`${backups}/${someName}`)).status).toBe(200)
    expect(await listed()).toEqual([])
  })

  test("a folder whose name is no time is somebody else's", async () => {
    const folder = path.join(opened.config.backupDir, "20269931T235959123Z")
    await mkdir(folder, { recursive: true })
    await writeFile(path.join(folder, "backup.json"), '{"bytes":1,"seconds":1}')
    expect(await listed()).toEqual([])
    expect((await opened.admin.delete(`${backups}/20269931T235959123Z`)).status).toBe(404)
  })

  test("two requests that remove one backup at the same time: one removes it, the other is told that there is none", async () => {
    await mkdir(path.join(opened.config.backupDir, someName), { recursive: true })
    const answers = await Promise.all([1, 2].map(() => opened.admin.delete(`${backups}/${someName}`)))
    expect(answers.map(({ status }) => status).toSorted((one, two) => one - two)).toEqual([200, 404])
    expect(await readdir(opened.config.backupDir)).not.toContain(someName)
  })
})

/** Backups of the running server through the public surface: platform-wandb 15. */
import { execFileSync } from "node:child_process"
import { cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { dataEntries } from "../../src/storage/data-folder.ts"
import { backup as backupSchema } from "../../src/wire/platform/backup.ts"
import { copyCatalogTemplate } from "../support/catalog-template.ts"
import { completedCall, uuid } from "../support/completed-call.ts"
import { feedbackItem } from "../support/feedback-items.ts"
import { call, endServer, type RunningServer, startServer } from "../support/server-process.ts"
import { newModel, openTrainingApp, trained, type TrainingApp } from "../support/training-app.ts"

const backupsPath = "/v1/organization/backups"
const project = "acme/backups"
/** Writers beside the backups. */
const writers = 4
const rounds = process.env["HEDDLE_SLOW_TESTS"] === undefined ? 1 : 20

let folder: string
let opened: TrainingApp
let url: string
let model: { id: string; name: string }
/** Servers in processes of their own. */
const servers: RunningServer[] = []
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-backups-"))
  opened = await openTrainingApp()
  url = await opened.app.server.listen({ port: 0, host: "127.0.0.1" })
  model = await newModel(opened.acme)
  await trained(opened.acme, model.id)
})
afterAll(async () => {
  // Of tests that failed.
  for (const { process } of servers) process.kill("SIGKILL")
  await opened.close()
  await rm(folder, { recursive: true, force: true })
})

async function serve(dir: string, env: NodeJS.ProcessEnv = {}): Promise<RunningServer> {
  const server = await startServer(dir, { HEDDLE_ENGINE: "none", HEDDLE_LOG: "fatal", ...env })
  servers.push(server)
  return server
}

/** A fetch of the server at `base` as a user of the team; the data folder's keys are those of its copies too. */
async function ask(base: string, method: string, target: string, body?: object | FormData, key = opened.acme.key) {
  const isForm = body instanceof FormData
  const headers = { authorization: `Bearer ${key}`, ...(isForm ? {} : { "content-type": "application/json" }) }
  const payload = body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }
  const answer = await fetch(base + target, { method, headers, ...payload })
  return { status: answer.status, text: await answer.text() }
}

async function must(base: string, method: string, target: string, body?: object | FormData): Promise<string> {
  const { status, text } = await ask(base, method, target, body)
  if (status !== 200) throw new Error(`${method} ${target}: ${status} ${text}`)
  return text
}

async function madeBackup() {
  const answer = await opened.admin.post(backupsPath)
  expect(answer).toMatchObject({ status: 200 })
  return backupSchema.parse(answer.body)
}

/** What one writer has stored, in order: each step was acknowledged before the next was sent. */
interface Writer {
  number: number
  steps: number
  stops: boolean
}

const fileText = (writer: number, count: number) => `file ${writer} ${count}`
const objectName = (writer: number, count: number) => `object-${writer}-${count}`
const callNumber = (writer: number, count: number) => (writer + 1) * 100_000 + count
const noteOf = (writer: number, count: number) => `note ${writer} ${count}`

/** One step goes to every store: a call, feedback on it, an object, a file. */
async function writeStep(base: string, writer: number, count: number): Promise<void> {
  const id = callNumber(writer, count)
  await must(base, "POST", `/v2/${project}/calls/complete`, {
    batch: [{ ...completedCall(project, { id }), inputs: { writer, count } }],
  })
  await must(base, "POST", "/feedback/create", {
    ...feedbackItem(project, { payload: { note: noteOf(writer, count) } }),
    weave_ref: `weave:///${project}/call/${uuid(id)}`,
  })
  await must(base, "POST", "/obj/create", {
    obj: { project_id: project, object_id: objectName(writer, count), val: { count } },
  })
  const form = new FormData()
  form.append("purpose", "fine-tune")
  form.append("file", new Blob([fileText(writer, count)]), `${fileText(writer, count)}.jsonl`)
  await must(base, "POST", "/v1/files", form)
}

async function write(writer: Writer): Promise<void> {
  writer.stops = false
  while (!writer.stops) {
    await writeStep(url, writer.number, writer.steps)
    writer.steps += 1
  }
}

interface Stored {
  calls: Set<string>
  notes: Map<string, string>
  objects: Set<string>
  files: Map<string, string>
}

/** Everything in the project, as the server at `base` gives it. */
async function storedAt(base: string): Promise<Stored> {
  const lines = (text: string) =>
    text
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, never>)
  const found = lines(await must(base, "POST", "/calls/stream_query", { project_id: project }))
  for (const one of found) expect(one).toMatchObject({ ended_at: expect.any(String), op_name: "op" })
  const feedback = JSON.parse(await must(base, "POST", "/feedback/query", { project_id: project })) as {
    result: { payload: { note: string }; weave_ref: string }[]
  }
  const objects = JSON.parse(await must(base, "POST", "/objs/query", { project_id: project })) as {
    objs: { object_id: string }[]
  }
  const files = JSON.parse(await must(base, "GET", "/v1/files?limit=10000")) as {
    data: { id: string; filename: string }[]
  }
  return {
    calls: new Set(found.map(({ id }) => String(id))),
    notes: new Map(feedback.result.map(({ payload, weave_ref }) => [payload.note, weave_ref])),
    objects: new Set(objects.objs.map(({ object_id }) => object_id)),
    files: new Map(files.data.map(({ id, filename }) => [filename, id])),
  }
}

/** The parts of a step, in the order in which they were written, and whether each is there. */
function partsOf(stored: Stored, writer: number, count: number): boolean[] {
  return [
    stored.calls.has(uuid(callNumber(writer, count))),
    stored.notes.has(noteOf(writer, count)),
    stored.objects.has(objectName(writer, count)),
    stored.files.has(`${fileText(writer, count)}.jsonl`),
  ]
}

/** Starts a server on a copy of a backup, as a user does who restores it. */
async function restored(
  name: string,
  backupDir = opened.config.backupDir,
): Promise<{ dir: string; at: RunningServer }> {
  const dir = path.join(folder, `restored-${name}`)
  await cp(path.join(backupDir, name), dir, { recursive: true, verbatimSymlinks: true })
  return { dir, at: await serve(dir) }
}

describe("platform-wandb 15: while everything is written to", () => {
  test(
    "a server on a copy has all that was acknowledged before, and of what came meanwhile one moment of all stores",
    { timeout: 300_000 },
    async () => {
      const all = Array.from({ length: writers }, (_, number): Writer => ({ number, steps: 0, stops: false }))
      for (let round = 0; round < rounds; round++) {
        const from = all.map(({ steps }) => steps)
        const writing = Promise.all(all.map(write))
        writing.catch(() => undefined)
        await expect
          .poll(() => all.every(({ number, steps }) => steps > (from[number] ?? 0) + 1), { timeout: 60_000 })
          .toBe(true)
        const before = all.map(({ steps }) => steps)
        const { name } = await madeBackup()
        const after = all.map(({ steps }) => steps)
        expect(after.some((steps, writer) => steps > (before[writer] ?? 0))).toBe(true)
        for (const writer of all) writer.stops = true
        await writing
        const { dir, at } = await restored(name)
        const stored = await storedAt(at.url)
        for (const { number } of all) {
          const written = Array.from({ length: (after[number] ?? 0) + 1 }, (_, count) =>
            partsOf(stored, number, count),
          ).flat()
          // What is there is the beginning of what was written, and reaches as far as what was acknowledged before.
          const length = written.indexOf(false)
          expect(written.slice(length).filter(Boolean)).toEqual([])
          expect(length === -1 ? written.length : length).toBeGreaterThanOrEqual((before[number] ?? 0) * 4)
          const last = (before[number] ?? 0) - 1
          const id = stored.files.get(`${fileText(number, last)}.jsonl`)
          expect(await must(at.url, "GET", `/v1/files/${id}/content`)).toBe(fileText(number, last))
        }
        const weights = `/v1/preview/models/${model.id}/checkpoints/1/files/adapter_model.safetensors`
        expect(await must(at.url, "GET", weights)).toBe(`weights of ${model.id}@1`)
        await writeStep(at.url, writers, round)
        await endServer(at, "SIGTERM")
        await rm(dir, { recursive: true })
      }
      // What is not listed there, no backup would have.
      const entries = Object.keys(dataEntries)
      expect((await readdir(opened.config.dataDir)).filter((name) => !entries.includes(name))).toEqual([])
      const stored = await storedAt(url)
      for (const { number, steps } of all) {
        for (let count = 0; count < steps; count++)
          expect(partsOf(stored, number, count)).toEqual([true, true, true, true])
      }
    },
  )
})

test("platform-wandb 15 rule 9: a copy of a backup without all of its files is not started on, but once as it is", async () => {
  const dataDir = path.join(folder, "copied-in-part")
  await copyCatalogTemplate(dataDir)
  const source = await serve(dataDir)
  const { name } = (await call(source, "POST", backupsPath)).body as { name: string }
  await endServer(source, "SIGTERM")
  const backup = path.join(dataDir, "backups", name)
  const copy = path.join(folder, "copy-in-part")
  await cp(backup, copy, { recursive: true })
  await rm(path.join(copy, "arrived-calls"), { recursive: true })
  await rm(path.join(copy, "traces/store"), { recursive: true })
  await expect(serve(copy)).rejects.toThrow(
    `the data folder ${copy} is a copy of a backup without all of its files: they have `,
  )
  await rm(copy, { recursive: true })
  await cp(backup, copy, { recursive: true })
  for (let round = 0; round < 2; round++) {
    await endServer(await serve(copy), "SIGTERM")
    expect(await readdir(copy)).not.toContain("backup.json")
    // Files that go later are the server's business.
    await rm(path.join(copy, "arrived-calls"), { recursive: true })
  }
}, 120_000)

describe("platform-wandb 15 rule 6: a backup is whole or not there", () => {
  test(
    "of a server that is killed meanwhile nothing is listed, and the next start leaves nothing of it",
    { timeout: 300_000 },
    async () => {
      const dataDir = path.join(folder, "killed")
      const backups = path.join(dataDir, "backups")
      await mkdir(backups, { recursive: true })
      await copyCatalogTemplate(dataDir)
      const first = await serve(dataDir)
      const answered = call(first, "POST", backupsPath).then(
        () => true,
        () => false,
      )
      await expect.poll(() => readdir(dataDir), { timeout: 60_000, interval: 1 }).toContain("backup-in-progress")
      await endServer(first, "SIGKILL")
      expect(await answered).toBe(false)
      expect(await readdir(dataDir)).toContain("backup-in-progress")
      // As a kill leaves it that comes while the backup is copied to another disk, and a folder of somebody else.
      await mkdir(path.join(backups, "20260131T235959123Z.partial"))
      await mkdir(path.join(backups, "notes.partial"))
      const second = await serve(dataDir)
      expect((await call(second, "GET", backupsPath)).body).toEqual({ object: "list", data: [] })
      expect(await readdir(dataDir)).not.toContain("backup-in-progress")
      expect(await readdir(backups)).toEqual(["notes.partial"])
      expect((await call(second, "POST", backupsPath)).status).toBe(200)
      await endServer(second, "SIGTERM")
    },
  )

  test("one that finds no room on its disk is refused with 507 and leaves nothing", async ({ skip }) => {
    const disk = await mounted("small", 8)
    if (disk === null) return skip("no file system can be mounted here")
    const { dir, at } = await started("without-room", disk)
    const answer = await call(at, "POST", backupsPath)
    expect(answer).toMatchObject({ status: 507, body: { error: { code: "insufficient_storage" } } })
    expect((answer.body as { error: { message: string } }).error.message).toMatch(
      /needs \d+ MiB of room on the disk of \S+, which has \d MiB left/,
    )
    expect(await readdir(disk)).toEqual([])
    expect(await readdir(dir)).not.toContain("backup-in-progress")
    expect((await call(at, "GET", backupsPath)).body).toEqual({ object: "list", data: [] })
    await endServer(at, "SIGTERM")
    execFileSync("umount", [disk])
  })

  test("on another disk it is a copy, on which a server starts", { timeout: 300_000 }, async ({ skip }) => {
    const disk = await mounted("large", 512)
    if (disk === null) return skip("no file system can be mounted here")
    const { dir, at } = await started("with-room", disk)
    const body = { obj: { project_id: "local/p", object_id: "kept", val: 1 } }
    expect((await call(at, "POST", "/obj/create", body)).status).toBe(200)
    const { name } = backupSchema.parse((await call(at, "POST", backupsPath)).body)
    expect([await readdir(disk), (await readdir(dir)).includes("backups")]).toEqual([[name], false])
    await endServer(at, "SIGTERM")
    const copy = await restored(name, disk)
    const found = await call(copy.at, "POST", "/objs/query", { project_id: "local/p" })
    expect(found.body).toMatchObject({ objs: [{ object_id: "kept" }] })
    await endServer(copy.at, "SIGTERM")
    execFileSync("umount", [disk])
  })
})

/** Starts a server on a new data folder, with its backups on `disk`. */
async function started(name: string, disk: string): Promise<{ dir: string; at: RunningServer }> {
  const dir = path.join(folder, name)
  await mkdir(dir)
  await copyCatalogTemplate(dir)
  return { dir, at: await serve(dir, { HEDDLE_BACKUP_DIR: disk }) }
}

/** A new file system of so many megabytes; null: only root may mount one. */
async function mounted(name: string, megabytes: number): Promise<string | null> {
  const disk = path.join(folder, name)
  await mkdir(disk)
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", disk], { stdio: "pipe" })
    return disk
  } catch {
    return null
  }
}

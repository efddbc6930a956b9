/** Exports share one limit of bytes; what makes them is a function that writes as many bytes as it said. */
import { existsSync } from "node:fs"
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { CheckpointExports, type ExportOf } from "./checkpoint-exports.ts"

const maximumBytes = 10
const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
const never = new AbortController().signal
const anyRoom = () => Promise.resolve()

let dataDir: string
let exports: CheckpointExports
/** By step, how many bytes it takes. */
let sizes: Record<number, number>
/** By step, called while room is made for it. */
let meanwhile: Record<number, () => Promise<unknown>>
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "heddle-exports-"))
  sizes = {}
  meanwhile = {}
  exports = new CheckpointExports({
    dataDir,
    maximumBytes,
    log,
    make: async ({ step }, target) => {
      const size = sizes[step] ?? 0
      const planning = target.planned(size)
      await meanwhile[step]?.()
      await planning
      await writeFile(target.output, "x".repeat(size))
      return size
    },
  })
})
afterEach(async () => {
  await exports.close()
  await rm(dataDir, { recursive: true })
})

const use = (step: number) => exports.use(exportOf(step), anyRoom, never)

function exportOf(step: number): ExportOf {
  const base = { name: "base", path: null }
  const files = { step, path: null, manifestSha256: null }
  return { base, modelId: "m", ...files, format: "gguf", dtype: null, title: `step${step}`, tenant: "acme" }
}

/** Made, used once, and kept for whoever asks again. */
async function idle(step: number, bytes: number): Promise<void> {
  sizes[step] = bytes
  const { release } = await use(step)
  release()
}

async function storedBytes(): Promise<number> {
  const names = await readdir(path.join(dataDir, "checkpoint-exports"), { recursive: true })
  const found = await Promise.all(names.map((name) => stat(path.join(dataDir, "checkpoint-exports", name))))
  return found.reduce((sum, one) => sum + (one.isFile() ? one.size : 0), 0)
}

test("two exports that find room by dropping the same idle one do not both get it", async () => {
  await idle(1, 6)
  sizes[2] = 8
  sizes[3] = 8
  const made = await Promise.allSettled([use(2), use(3)])
  const refused = made.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []))
  expect(refused).toMatchObject([{ code: "server_overloaded" }])
  expect(await storedBytes()).toBe(8)
})

/** Of the loop of promises, before somebody asks: in one of them an idle export is chosen, and is not being removed yet. */
const turns = Array.from({ length: 12 }, (_, turn) => turn)

test.each(turns)(
  "an idle export asked for in turn %i of dropping others is not taken from its reader",
  async (turn) => {
    await idle(1, 5)
    await idle(2, 5)
    sizes[3] = 10
    let read: string | null = null
    meanwhile[3] = async () => {
      for (let passed = 0; passed < turn; passed++) await Promise.resolve()
      const used = await use(2).catch(() => null)
      read = used?.path ?? null
    }
    await use(3).catch(() => undefined)
    expect(read === null || existsSync(read)).toBe(true)
  },
)

test("nothing is dropped for an export that would not fit all the same", async () => {
  await idle(1, 4)
  sizes[2] = 4
  const held = await use(2)
  sizes[3] = 7
  await expect(use(3)).rejects.toMatchObject({ code: "server_overloaded" })
  held.release()
  expect(await storedBytes()).toBe(8)
})

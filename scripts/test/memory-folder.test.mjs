import { spawnSync } from "node:child_process"
import { existsSync, statfsSync } from "node:fs"
import { freemem } from "node:os"
import { expect, test } from "vitest"
import { fromRoot } from "../setup/paths.mjs"

const script = `
  import { existsSync } from "node:fs"
  import { keepTemporaryFilesInMemory } from ${JSON.stringify(fromRoot("scripts", "test", "memory-folder.mjs"))}
  keepTemporaryFilesInMemory()
  console.log(process.env.TMPDIR ?? "", existsSync(process.env.TMPDIR ?? ""))`

function folderOfRun(TMPDIR) {
  const env = { ...process.env, TMPDIR }
  const run = spawnSync(process.execPath, ["--input-type=module", "-e", script], { env, encoding: "utf8" })
  return run.stdout.trim().split(" ")
}

function hasRoom() {
  if (!existsSync("/dev/shm")) return false
  const { bavail, bsize } = statfsSync("/dev/shm")
  return Math.min(bavail * bsize, freemem()) > 9 * 1024 ** 3
}

test.runIf(hasRoom())("temporary files of a run are in memory, and gone when it has ended", () => {
  const [folder, isThere] = folderOfRun("")
  expect(folder).toMatch(/^\/dev\/shm\/heddle-tests-\d+-/)
  expect(isThere).toBe("true")
  expect(existsSync(folder)).toBe(false)
})

test("a folder that TMPDIR names is kept", () => {
  expect(folderOfRun("/tmp")).toEqual(["/tmp", "true"])
})

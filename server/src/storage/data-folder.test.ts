import { existsSync } from "node:fs"
import { mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { ensureDataFolder, isAboutFolder, unusable } from "./data-folder.ts"
import { lockDataFolder } from "./data-lock.ts"

let folder: string
beforeEach(async () => (folder = await mkdtemp(path.join(tmpdir(), "heddle-folder-"))))
afterEach(() => rm(folder, { recursive: true, force: true }))

const wayOut = "Choose one that this user can write to, with --data-dir"

test("a folder is made with those above it, and taken as it is the next time", async () => {
  const dataDir = path.join(folder, "a", "b")
  await Promise.all([ensureDataFolder(dataDir), ensureDataFolder(dataDir)])
  await ensureDataFolder(dataDir)
  expect(await readdir(path.join(folder, "a"))).toEqual(["b"])
  await symlink(dataDir, path.join(folder, "link"))
  await ensureDataFolder(path.join(folder, "link"))
})

test.each(["file", "file/below"])("%s, where a file is, is refused", async (name) => {
  const file = path.join(folder, "file")
  await writeFile(file, "")
  const dataDir = path.join(folder, name)
  await expect(ensureDataFolder(dataDir)).rejects.toThrow(
    new Error(`the data folder ${dataDir} cannot be used: ${file} is not a folder. ${wayOut}`),
  )
})

test.runIf(existsSync("/proc/self"))("a folder that no user can make, or write to, is refused at once", async () => {
  await expect(lockDataFolder("/proc/nope/data")).rejects.toThrow(
    /^the data folder \/proc\/nope\/data cannot be used: (ENOENT|EACCES): .*, mkdir '\/proc\/nope'\. Choose one that/,
  )
  await expect(lockDataFolder("/proc/self")).rejects.toThrow(
    /^the data folder \/proc\/self cannot be used: .*\. Choose/,
  )
})

test("a full disk has a way out of its own", () => {
  const full = Object.assign(new Error("no space left"), { code: "ENOSPC", syscall: "copyfile", dest: "/data/catalog" })
  expect(isAboutFolder("/data", full)).toBe(true)
  expect(isAboutFolder("/dat", full)).toBe(false)
  expect(unusable("/data", full).message).toBe(
    "the data folder /data cannot be used: no space left. Make room on its disk, or choose another with --data-dir",
  )
})

import { spawn } from "node:child_process"
import { once } from "node:events"
import { access, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { lockDataFolder } from "./data-lock.ts"

let folder: string
beforeEach(async () => (folder = await mkdtemp(path.join(tmpdir(), "heddle-lock-"))))
afterEach(() => rm(folder, { recursive: true, force: true }))

const held = (content: string) => writeFile(path.join(folder, "lock"), content)

test("the second is refused by the holder's pid, until the first lets go", async () => {
  const lock = await lockDataFolder(folder)
  await expect(lockDataFolder(folder)).rejects.toThrow(`is in use by another Heddle server (process ${process.pid})`)
  await lock.release()
  await expect(access(path.join(folder, "lock"))).rejects.toThrow("ENOENT")
  await (await lockDataFolder(folder)).release()
})

test("the lock of a dead process is taken over", async () => {
  const child = spawn(process.execPath, ["-e", ""])
  await once(child, "exit")
  await held(JSON.stringify({ pid: child.pid, started: "1" }))
  await (await lockDataFolder(folder)).release()
})

test.runIf(process.platform === "linux")("a pid that another process has by now is not the holder", async () => {
  await held(JSON.stringify({ pid: process.ppid, started: "1" }))
  await (await lockDataFolder(folder)).release()
})

test("a lock that a crash tore while it was written is taken over", async () => {
  await held('{"pid":1')
  await (await lockDataFolder(folder)).release()
})

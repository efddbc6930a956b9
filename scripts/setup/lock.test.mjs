import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { expect, test, vi } from "vitest"
import { withLock } from "./lock.mjs"
import { cache } from "./paths.mjs"

const name = () => `test-${process.pid}-${Math.random().toString(36).slice(2)}`
const fileOf = (lock) => join(cache, "locks", `${lock}.lock`)

test("two set-ups that want the same lock run one after the other", async () => {
  const lock = name()
  const order = []
  const work = (id) => async () => {
    order.push(`${id} in`)
    await sleep(30)
    order.push(`${id} out`)
  }
  await Promise.all([withLock(lock, work("a")), withLock(lock, work("b"))])
  expect([
    ["a in", "a out", "b in", "b out"],
    ["b in", "b out", "a in", "a out"],
  ]).toContainEqual(order)
})

test("the lock of a process that died is taken over", async () => {
  const lock = name()
  const dead = spawnSync(process.execPath, ["-e", ""]).pid
  mkdirSync(join(cache, "locks"), { recursive: true })
  writeFileSync(fileOf(lock), String(dead))
  expect(await withLock(lock, async () => "done")).toBe("done")
  expect(existsSync(fileOf(lock))).toBe(false)
})

test("a failure frees the lock", async () => {
  const lock = name()
  const failing = withLock(lock, async () => {
    throw new Error("no network")
  })
  await expect(failing).rejects.toThrow("no network")
  expect(existsSync(fileOf(lock))).toBe(false)
})

test("a repository that this user may not write to is a SetupError, which prints no stack", async () => {
  vi.doMock("./paths.mjs", () => ({ cache: "/dev/null/.heddle", root: "/dev/null" }))
  vi.resetModules()
  const { withLock: lock } = await import("./lock.mjs")
  const { SetupError } = await import("./progress.mjs")
  const refused = lock(name(), async () => "done")
  await expect(refused).rejects.toThrow(SetupError)
  await expect(refused).rejects.toThrow(/^the set-up cannot write into \/dev\/null: ENOTDIR/)
})

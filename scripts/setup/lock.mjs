/** A lock for the set-up, because two commands that start together must not install into the same folder. */
import { mkdirSync, readFileSync, rmdirSync, statSync, unlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { cache, root } from "./paths.mjs"
import { SetupError, say } from "./progress.mjs"

const POLL_MS = 250
/** Breaking a lock takes less time than this, so the process of an older breaker has died. */
const BREAKER_LIFE_MS = 10_000

/** Runs `work` while holding the lock `name`. A lock whose process has died is taken over. */
export async function withLock(name, work) {
  const folder = join(cache, "locks")
  const path = join(folder, `${name}.lock`)
  makeFolder(folder)
  let hasReported = false
  while (!tryLock(path)) {
    const owner = ownerOf(path)
    if (owner !== null && !isAlive(owner)) breakLock(path, owner)
    else {
      if (!hasReported) say(`waiting for another set-up of ${name}${owner ? ` (process ${owner})` : ""} …`)
      hasReported = true
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }
  try {
    return await work()
  } finally {
    unlinkSync(path)
  }
}

function makeFolder(folder) {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    throw unwritable(error)
  }
}

function tryLock(path) {
  try {
    writeFileSync(path, String(process.pid), { flag: "wx" })
    return true
  } catch (error) {
    if (error.code === "EEXIST") return false
    throw unwritable(error)
  }
}

const unwritable = (error) =>
  new SetupError(
    `the set-up cannot write into ${root}: ${error.message}.\nRun the command as the user that this folder belongs to.`,
  )

/** The process id in the lock, or null when the lock is gone or not yet written. */
function ownerOf(path) {
  try {
    return Number(readFileSync(path, "utf8")) || null
  } catch {
    return null
  }
}

/** Whether a process has this id. */
export function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === "EPERM"
  }
}

/**
 * Removes a dead owner's lock. Two waiters may see the same dead owner, and the slower one must not
 * remove the lock that the faster one has just taken: only one breaker at a time, which looks again.
 */
function breakLock(path, owner) {
  const breaker = `${path}.break`
  try {
    mkdirSync(breaker)
  } catch {
    try {
      if (Date.now() - statSync(breaker).mtimeMs > BREAKER_LIFE_MS) rmdirSync(breaker)
    } catch {}
    return
  }
  try {
    if (ownerOf(path) === owner) unlinkSync(path)
  } finally {
    rmdirSync(breaker)
  }
}

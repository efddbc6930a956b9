/**
 * Keeps the temporary files of the tests in memory. The stores of each test wait for the disk at every commit: the
 * server's tests of objects took 63 s on a disk and 26 s in memory (2 cores). A process that is killed loses nothing that
 * it has written to either.
 */
import { accessSync, chmodSync, constants, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs"
import { freemem } from "node:os"
import { join } from "node:path"
import { isAlive } from "../setup/lock.mjs"
import { say } from "../setup/progress.mjs"
import { endings } from "../setup/run.mjs"

/** A file system in memory that every Linux has; in a container it may be small. */
const sharedMemory = "/dev/shm"
/** Several times what the tests have written at any moment. */
const roomBytes = 8 * 1024 ** 3

/** From now on temporary files are in memory if there is room, until this process ends. `TMPDIR` says otherwise. */
export function keepTemporaryFilesInMemory() {
  if (process.env.TMPDIR || !hasRoom()) return
  removeLeftovers()
  const folder = mkdtempSync(join(sharedMemory, `heddle-tests-${process.pid}-`))
  // PostgreSQL runs as a user of its own.
  chmodSync(folder, 0o711)
  process.env.TMPDIR = folder
  const remove = () => removeFolder(folder)
  process.once("exit", remove)
  for (const signal of endings) {
    process.once(signal, () => {
      remove()
      process.kill(process.pid, signal)
    })
  }
}

export function hasRoom() {
  try {
    accessSync(sharedMemory, constants.W_OK)
    const { bavail, bsize } = statfsSync(sharedMemory)
    return Math.min(bavail * bsize, freemem()) >= roomBytes
  } catch {
    return false
  }
}

/** Of runs that were killed. */
function removeLeftovers() {
  for (const name of readdirSync(sharedMemory)) {
    const pid = /^heddle-tests-(\d+)-/.exec(name)?.[1]
    if (pid && !isAlive(Number(pid))) removeFolder(join(sharedMemory, name))
  }
}

/** One that cannot be removed, as a disk that a test mounted is in use, costs memory alone. */
function removeFolder(folder) {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    say(`temporary files are left in memory: ${error.message}`)
  }
}

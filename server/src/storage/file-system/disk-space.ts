/** How much room there is on the disk of the data folder. */
import { statfs } from "node:fs/promises"
import { diskFull } from "../../errors.ts"

const mebibyte = 1024 ** 2

/** Bytes that this user may still write to the disk of the folder. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** @throws {HeddleError} `insufficient_storage` when fewer bytes are free */
export async function requireFreeBytes(folder: string, bytes: number): Promise<void> {
  if ((await freeBytes(folder)) < bytes) throw diskFull()
}

/** Why writes are refused or soon will be, for whoever asks after the server's health; null: there is room. */
export async function diskShortage(folder: string, leastFreeBytes: number): Promise<string | null> {
  const free = await freeBytes(folder)
  if (free >= leastFreeBytes) return null
  const left = `${(free / mebibyte).toFixed(1)} MiB`
  return `the disk of the data folder has only ${left} left; what finds no room is answered with 507. Make room on it`
}

/** Whether a write of any size may have failed for want of room: what the store says of it does not always tell. */
export async function isDiskFull(folder: string): Promise<boolean> {
  return (await freeBytes(folder)) < mebibyte
}

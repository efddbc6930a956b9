/** Files leave room on the disk for the stores beside them, which may lose what they hold when they find none. */
import { afterAll, expect, test } from "vitest"
import { BlobStore } from "../../src/storage/blobs/blob-store.ts"
import { freeBytes } from "../../src/storage/file-system/disk-space.ts"
import { fillDisk, mountDisk, unmountDisk } from "../support/small-disk.ts"

const mebibyte = 1024 ** 2
const disk = mountDisk(96)
afterAll(() => {
  if (disk !== null) unmountDisk(disk)
})

test.skipIf(disk === null)("a file that would take the last of the disk is refused before it has", async () => {
  const folder = disk as string
  const blobs = await BlobStore.open(folder)
  await fillDisk(folder, 40 * mebibyte)
  const before = await freeBytes(folder)
  let least = before
  async function* content(chunks: number) {
    for (let chunk = 0; chunk < chunks; chunk++) {
      yield Buffer.alloc(mebibyte, chunk)
      least = Math.min(least, await freeBytes(folder))
    }
  }
  await expect(blobs.put(content(60))).rejects.toMatchObject({ code: "insufficient_storage" })
  expect(least).toBeLessThan(before - 10 * mebibyte)
  expect(least).toBeGreaterThanOrEqual(15 * mebibyte)
  expect(await freeBytes(folder)).toBe(before)
  expect((await blobs.put(content(10))).sizeBytes).toBe(10 * mebibyte)
})

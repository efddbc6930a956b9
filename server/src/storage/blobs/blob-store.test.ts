import { createHash } from "node:crypto"
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { text } from "node:stream/consumers"
import { afterEach, beforeEach, expect, test } from "vitest"
import { BlobStore } from "./blob-store.ts"

let folder: string
let store: BlobStore
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "heddle-blobs-"))
  store = await BlobStore.open(folder)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function* content(...parts: string[]) {
  for (const part of parts) yield Buffer.from(part)
}

/** SHA-256 of "hello world". */
const sha256 = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"

test("content is found by its SHA-256, and the same content twice is one file", async () => {
  expect(await store.put(content("hello ", "world"))).toEqual({ sha256, sizeBytes: 11 })
  await store.put(content("hello world"))
  expect(store.pathOf(sha256)).toBe(`blobs/sha256/b9/${sha256}`)
  expect(await readFile(path.join(folder, store.pathOf(sha256)), "utf8")).toBe("hello world")
  expect(await text(store.read(sha256))).toBe("hello world")
  expect(await readdir(path.join(folder, "blobs/sha256/b9"))).toEqual([sha256])
})

test("hashes that are given see the content too", async () => {
  const md5 = createHash("md5")
  await store.put(content("hello ", "world"), md5)
  expect(md5.digest("hex")).toBe("5eb63bbbe01eeed093cb22bb8f5acdc3")
})

test("a stream that breaks leaves nothing", async () => {
  async function* broken() {
    yield Buffer.from("hello")
    throw new Error("the client went away")
  }
  await expect(store.put(broken())).rejects.toThrow("the client went away")
  expect(await readdir(path.join(folder, "blobs/tmp"))).toEqual([])
})

test("opening clears what a crash left half written, and keeps blobs", async () => {
  await store.put(content("hello world"))
  await writeFile(store.temporaryPath(), "half")
  const again = await BlobStore.open(folder)
  expect(await readdir(path.join(folder, "blobs/tmp"))).toEqual([])
  expect(await again.has(sha256)).toBe(true)
  const needed = (answer: boolean) => () => Promise.resolve(answer)
  expect(await again.removeUnless(sha256, needed(true))).toBe(false)
  expect(await again.has(sha256)).toBe(true)
  expect(await again.removeUnless(sha256, needed(false))).toBe(true)
  expect(await again.removeUnless(sha256, needed(false))).toBe(true)
  expect(await again.has(sha256)).toBe(false)
})

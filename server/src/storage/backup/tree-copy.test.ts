import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import path from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { copying, linking } from "./tree-copy.ts"

let source: string
let target: string
beforeEach(async () => {
  source = await mkdtemp(path.join(tmpdir(), "heddle-tree-"))
  target = path.join(source, "copy")
  await mkdir(path.join(source, "files", "inner"), { recursive: true })
  await mkdir(target)
})
afterEach(() => rm(source, { recursive: true, force: true }))

const { signal } = new AbortController()
const tree = () => ({ source, target, names: ["files", "absent"], signal })
const write = (name: string, text: string) => writeFile(path.join(source, "files", name), text)
const copied = (name: string) => readFile(path.join(target, "files", name), "utf8")
const inode = async (file: string) => (await stat(file)).ino

test("linking: files are shared, later ones too, and one that took the place of another", async () => {
  for (const name of ["stays", "gone", "replaced", "inner/half.tmp"]) await write(name, name)
  const pass = linking(tree())
  await pass()
  await rm(path.join(source, "files", "gone"))
  await rm(path.join(source, "files", "replaced"))
  await write("replaced", "anew")
  await write("inner/late", "late")
  await pass()
  expect(await inode(path.join(target, "files", "stays"))).toBe(await inode(path.join(source, "files", "stays")))
  expect(await Promise.all(["stays", "gone", "replaced", "inner/late"].map(copied))).toEqual([
    "stays",
    "gone",
    "anew",
    "late",
  ])
  expect(await readdir(path.join(target, "files", "inner"))).toEqual(["late"])
})

test("copying: the second pass takes what was changed, made and removed, also in the same moment and size", async () => {
  for (const name of ["stays", "gone", "same size", "inner/grows"]) await write(name, name)
  // As the clock of a file system may show it: both writes at one time.
  const time = new Date()
  await utimes(path.join(source, "files", "same size"), time, time)
  const pass = copying(tree())
  await pass()
  await rm(path.join(source, "files", "gone"))
  await write("same size", "SAME SIZE")
  await utimes(path.join(source, "files", "same size"), time, time)
  await write("inner/grows", "inner/grows more")
  await pass()
  expect(await inode(path.join(target, "files", "stays"))).not.toBe(await inode(path.join(source, "files", "stays")))
  expect(await Promise.all(["stays", "same size", "inner/grows"].map(copied))).toEqual([
    "stays",
    "SAME SIZE",
    "inner/grows more",
  ])
  expect((await readdir(path.join(target, "files"))).toSorted()).toEqual(["inner", "same size", "stays"])
})

test("copying: what has not changed for a while is not copied again", async () => {
  await write("old", "old")
  const past = new Date(Date.now() - 60_000)
  await utimes(path.join(source, "files", "old"), past, past)
  const pass = copying(tree())
  await pass()
  await writeFile(path.join(target, "files", "old"), "mark")
  await pass()
  expect(await copied("old")).toBe("mark")
})

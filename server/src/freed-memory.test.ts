import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { expect, test } from "vitest"

/** Prints how many MiB are resident while 400 MB in small pieces are in use, after 98 of 100 are freed, and a second later. */
const program = `
  import { setTimeout as sleep } from "node:timers/promises"
  import { giveBackFreedMemory } from "${import.meta.resolve("./freed-memory.ts")}"
  const resident = () => Math.round(process.memoryUsage.rss() / 2 ** 20)
  let pieces = Array.from({ length: 100_000 }, () => new ArrayBuffer(4096))
  for (const piece of pieces) new Uint8Array(piece).fill(1)
  const used = resident()
  pieces = pieces.filter((_, index) => index % 50 === 0)
  globalThis.gc()
  await sleep(300)
  const freed = resident()
  giveBackFreedMemory(50)
  await sleep(700)
  console.log(JSON.stringify({ used, freed, later: resident(), pieces: pieces.length }))`

const usesGlibc = "glibcVersionRuntime" in (process.report.getReport() as { header: object }).header

test.runIf(usesGlibc)("memory that was freed between pieces in use goes back to the system", async () => {
  const flags = ["--expose-gc", "--input-type=module-typescript", "--eval", program]
  const { stdout } = await promisify(execFile)(process.execPath, flags)
  const { freed, later } = JSON.parse(stdout) as Record<string, number>
  expect(later).toBeLessThan((freed as number) - 200)
})

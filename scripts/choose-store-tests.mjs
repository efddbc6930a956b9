/**
 * Chooses which of the server's tests run on PostgreSQL and ClickHouse too: `node scripts/choose-store-tests.mjs` runs all of
 * them there (10 minutes), and writes `scripts/test/driven-elsewhere.json`, the files that can be left out since others
 * reach the same code of `server/src/storage`. Those that take least time for what they reach are kept.
 *
 * A new file runs on both kinds of stores until this is run again.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { fromRoot, root } from "./setup/paths.mjs"
import { asksForStores, drivenElsewherePath, onGrown } from "./test/server-files.mjs"

/** Places for which another second of tests is worth it: what is reached by a slow test alone may be an error's text. */
const PLACES_A_SECOND = 0.2
/** What a file takes besides its tests, in milliseconds. */
const FILE_MS = 300

/** One entry a file: `{ file, ms, places }`, `file` relative to the repository. */
function measure() {
  const folder = mkdtempSync(join(tmpdir(), "heddle-reached-"))
  try {
    const lines = join(folder, "reached.jsonl")
    const env = { ...process.env, HEDDLE_REACHED_STATEMENTS: lines }
    writeFileSync(drivenElsewherePath, "[]\n")
    execFileSync("node", [fromRoot("scripts", "heddle.mjs"), "test", "server-grown"], { env, stdio: "inherit" })
    return readFileSync(lines, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .map(({ file, ...rest }) => ({ ...rest, file: relative(root, file) }))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Never left out: files of the stores themselves, those that only these stores have tests in, and random orders of events.
 */
const mustRun = ({ file }) => /\/storage\/|histories/.test(file) || onGrown.includes(file) || asksForStores(file)

function choose(measured) {
  const missing = new Set(measured.flatMap(({ places }) => places))
  const all = missing.size
  const chosen = []
  const take = (one) => {
    chosen.push(one)
    for (const place of one.places) missing.delete(place)
  }
  measured.filter(mustRun).forEach(take)
  const others = new Set(measured.filter((one) => !mustRun(one)))
  const worth = ({ places, ms }) => (places.filter((place) => missing.has(place)).length / (ms + FILE_MS)) * 1000
  for (;;) {
    const [best] = [...others].map((one) => ({ one, worth: worth(one) })).toSorted((a, b) => b.worth - a.worth)
    if (best === undefined || best.worth < PLACES_A_SECOND) break
    take(best.one)
    others.delete(best.one)
  }
  return { chosen, left: [...others], reached: all - missing.size, all }
}

const secondsOf = (files) => Math.round(files.reduce((sum, { ms }) => sum + ms, 0) / 1000)

const { chosen, left, reached, all } = choose(measure())
const names = left.map(({ file }) => file).toSorted((a, b) => (a < b ? -1 : 1))
writeFileSync(drivenElsewherePath, `${JSON.stringify(names, null, 2)}\n`)
console.log(
  `${chosen.length} files run on both, ${secondsOf(chosen)} s, and reach ${reached} of ${all} places; ` +
    `${left.length} files are left out, ${secondsOf(left)} s`,
)

/**
 * Vitest's set-up file for `scripts/choose-store-tests.mjs`: after each test file, one line of JSON is added to the file in
 * `HEDDLE_REACHED_STATEMENTS`, with what it took and the places in `server/src/storage` that it reached.
 */
import { appendFileSync } from "node:fs"
import { type Profiler, Session } from "node:inspector"
import { afterAll, expect } from "vitest"

/** Characters from one place to the next. A branch that is shorter is not told apart. */
const step = 16

// All files of a process share its one session: they are not isolated.
const shared = globalThis as { heddleCoverage?: Session }
shared.heddleCoverage ??= begin()
const session = shared.heddleCoverage
const began = performance.now()
// Counts begin anew with each look at them.
look()

afterAll(() => {
  const places = look().flatMap(({ url, functions }) => {
    const module = /\/server\/src\/storage\/(.*)\.ts$/.exec(url.split("?")[0] ?? "")?.[1]
    if (module === undefined || module.endsWith(".test")) return []
    return functions.flatMap((one) => placesIn(one).map((place) => `${module}:${place}`))
  })
  const line = { file: expect.getState().testPath, ms: Math.round(performance.now() - began), places }
  appendFileSync(process.env["HEDDLE_REACHED_STATEMENTS"] ?? "", `${JSON.stringify(line)}\n`)
})

function begin(): Session {
  const own = new Session()
  own.connect()
  own.post("Profiler.enable")
  own.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true })
  return own
}

function look(): Profiler.ScriptCoverage[] {
  let found: Profiler.ScriptCoverage[] = []
  session.post("Profiler.takePreciseCoverage", (error, taken) => {
    if (error !== null) throw error
    found = taken.result
  })
  return found
}

/** The places of a function that ran. A later range lies in an earlier one, and says more. */
function placesIn({ functionName, ranges }: Profiler.FunctionCoverage): number[] {
  const [whole] = ranges
  // A module's own code runs once a process, whichever file is first.
  if (whole === undefined || whole.count === 0 || functionName === "") return []
  const places: number[] = []
  for (let at = whole.startOffset; at < whole.endOffset; at += step) {
    const inner = ranges.findLast(({ startOffset, endOffset }) => startOffset <= at && at < endOffset)
    if (inner !== undefined && inner.count > 0) places.push(at)
  }
  return places
}

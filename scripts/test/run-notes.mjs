/**
 * A reporter of vitest that writes two things to the path in HEDDLE_RUN_NOTES which vitest's JSON report lacks:
 * `files`, with the time of each, imports and hooks included, and `errors` outside of tests, each with the file that
 * ran then.
 */
import { writeFileSync } from "node:fs"
import { relative } from "node:path"
import { root } from "../setup/paths.mjs"

export default class RunNotes {
  onTestRunEnd(modules, unhandledErrors) {
    const files = modules.map((module) => {
      const { prepareDuration, setupDuration, collectDuration, duration } = module.diagnostic()
      const ms = Math.round(prepareDuration + setupDuration + collectDuration + duration)
      return { file: module.relativeModuleId, ms }
    })
    const errors = unhandledErrors.map(({ name, message, VITEST_TEST_PATH: path }) => ({
      file: path === undefined ? "no file" : relative(root, path),
      text: `${name}: ${message}`.split("\n")[0],
    }))
    writeFileSync(process.env.HEDDLE_RUN_NOTES, JSON.stringify({ files, errors }))
  }
}

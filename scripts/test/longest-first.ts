/** Starts the test files that take longest before the others, so that none of them runs alone at the end. */
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Files that take half a minute or more on two cores, the longest first. */
export const longestFiles = [
  "server/test/engines/remote-engine.test.ts",
  "server/test/access/isolation.test.ts",
  "server/test/training/exports.test.ts",
  "server/test/http/attacks.test.ts",
  "server/test/engines/engine-pool.test.ts",
  "server/test/access/access-table.test.ts",
  "server/test/calls/word-search.test.ts",
  "server/test/http/hostile-requests.test.ts",
  "server/test/engines/faults.test.ts",
  "server/test/platform/project-delete-crash.test.ts",
  "server/test/calls/histories.test.ts",
  "server/src/storage/traces/migrations/migrate-traces.test.ts",
  "server/test/evaluations/scoring-rules.test.ts",
  "server/test/training/pause-engine.test.ts",
  "server/test/training/mixtures.test.ts",
  "server/test/storage/crash.test.ts",
  "server/test/storage/catalog-outage.test.ts",
  "web/browser/settings.test.ts",
  "web/browser/training.test.ts",
  "web/browser/traces.test.ts",
  "web/browser/labelling.test.ts",
  "web/browser/objects.test.ts",
]

/** The other files are in vitest's order: by the time of the last run, and by size in a fresh clone. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of vitest, which returns another array
    const sorted = await super.sort(files)
    return sorted.toSorted((one, two) => rank(one) - rank(two))
  }
}

function rank({ moduleId }: TestSpecification): number {
  const index = longestFiles.findIndex((file) => moduleId.endsWith(`/${file}`))
  return index === -1 ? longestFiles.length : index
}

/** Measures how fast pages of tables are read over HTTP, from their beginning and from far behind it. */
import { startHeddle } from "./harness/heddle-server.ts"
import { median } from "./harness/measure.ts"
import { count, type Options } from "./harness/options.ts"
import { temporaryFolder } from "./harness/paths.ts"
import { measureReads } from "./harness/read-heddle.ts"
import { fillTable, tableCases } from "./harness/read-tables.ts"
import { atMost, type Findings, measurement } from "./harness/result.ts"

export const options = {
  /** Rows of the largest table; there is one of a tenth and one of a hundredth of them, too. */
  rows: { type: "string", default: "1000000" },
  /** How often each read is timed. */
  rounds: { type: "string", default: "30" },
} as const

export async function run(given: Options): Promise<Findings> {
  const rounds = count(given, "rounds")
  const sizes = [100, 10, 1].map((part) => Math.ceil(count(given, "rows") / part))
  const measurements: Findings["measurements"] = []
  const bars: Findings["bars"] = []
  await using server = await startHeddle(temporaryFolder(), { engine: "none" })
  for (const rows of sizes) {
    const digest = await fillTable(server, rows)
    for (const { what, atMostMs, request } of tableCases(digest, rows)) {
      const title = `${what}, table of ${rows}`
      const milliseconds = await measureReads(server, title, request, rounds)
      measurements.push(measurement(title, "ms", milliseconds))
      if (atMostMs !== null) bars.push(atMost(title, atMostMs, median(milliseconds), "ms"))
    }
  }
  return {
    method: [
      `Tables of ${sizes.join(", ")} rows of about 1.5 KB in one project, stored in parts through /table/create and joined by /table/create_from_digests. "Near" is from the table's beginning, "far" from behind nine tenths of it.`,
      "Each figure: from sending the request over a connection that stays open to the last byte of its answer, uncompressed; each round asks for a page that was not read before and does not follow on one. One round before is not counted.",
    ],
    versions: {},
    settings: { rows: Math.max(...sizes), rounds },
    measurements,
    bars,
    caveats: [],
  }
}

import { expect, test } from "vitest"
import { formatDuration } from "../format/durations.ts"
import { thinSpace } from "../format/numbers.ts"
import { callDuration } from "./call-names.ts"

test.each([
  ["2026-11-20T10:00:00.000100Z", "2026-11-20T10:00:00.000900Z", "< 1 ms"],
  ["2026-11-20T10:00:00.000100Z", "2026-11-20T10:00:00.000100Z", "0 ms"],
  ["2026-11-20T10:00:00Z", "2026-11-20T10:00:00.568Z", "568 ms"],
])("a call from %s to %s took %s", (started_at, ended_at, shown) => {
  const duration = callDuration({ started_at, ended_at })
  expect(formatDuration(duration ?? Number.NaN).replaceAll(thinSpace, " ")).toBe(shown)
})

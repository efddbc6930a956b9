import { expect, test } from "vitest"
import { metricOfScore } from "../../../evaluations/metrics.ts"
import { rowsCsv } from "./rows-csv.ts"

test("a line a row, numbers as they are, names without formulas", () => {
  const metrics = [metricOfScore(['=a "b"'], "number"), metricOfScore(["ok"], "share")]
  const trial = (a: number) => ({ id: "t", values: new Map([['score:=a "b"', a]]) })
  const row = { digest: "-d", baseline: [trial(0.1), trial(-0.4)], candidate: [trial(1e-9)] }
  expect(rowsCsv([row], metrics)).toBe(
    `row_digest,"'=a ""b"" baseline","'=a ""b"" candidate",ok baseline,ok candidate\r\n'-d,-0.15000000000000002,1e-9,,`,
  )
})

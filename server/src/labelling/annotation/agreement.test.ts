/** Recomputes published examples, whose sources `agreement.ts` names, and tests edge cases. */
import { describe, expect, test } from "vitest"
import { AgreementTally, isDisputed } from "./agreement.ts"

/** Each argument holds the labels of one annotator, one character for each unit; "." where there is no label. */
function agreementOf(...annotators: string[]) {
  const tally = new AgreementTally()
  const units = annotators[0]?.length ?? 0
  for (let unit = 0; unit < units; unit++) {
    const labels = annotators.map((row, annotator) => [`a${annotator}`, row[unit]] as const)
    tally.add(
      new Map(labels.filter(([, label]) => label !== ".").map(([annotator, label]) => [annotator, Number(label)])),
    )
  }
  return tally.result()
}

/** Each row is a unit and holds how many raters chose each category. */
function ratedUnits(rows: readonly (readonly number[])[]) {
  const tally = new AgreementTally()
  for (const counts of rows) {
    const labels = counts.flatMap((count, category) => Array.from({ length: count }, () => `c${category}`))
    tally.add(new Map(labels.map((label, rater) => [`r${rater}`, label])))
  }
  return tally.result()
}

describe("published examples", () => {
  test("Krippendorff 2011: four observers of twelve units have alpha 0.743 nominal and 0.849 interval", () => {
    const agreement = agreementOf("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
    expect(agreement.krippendorff_alpha_nominal).toBeCloseTo(0.743, 3)
    expect(agreement.krippendorff_alpha_interval).toBeCloseTo(0.849, 3)
    expect(agreement).toMatchObject({ annotators: 4, units: 11, labels: 40 })
  })

  test("Krippendorff: three coders of fifteen units have alpha 0.691 nominal and 0.811 interval", () => {
    const agreement = agreementOf(".....34121133.3", "1.213343.......", "..21344.21133.4")
    expect(agreement.krippendorff_alpha_nominal).toBeCloseTo(0.691, 3)
    expect(agreement.krippendorff_alpha_interval).toBeCloseTo(0.811, 3)
  })

  test("Fleiss: fourteen raters of ten units in five categories have kappa 0.210", () => {
    const agreement = ratedUnits([
      [0, 0, 0, 0, 14],
      [0, 2, 6, 4, 2],
      [0, 0, 3, 5, 6],
      [0, 3, 9, 2, 0],
      [2, 2, 8, 1, 1],
      [7, 7, 0, 0, 0],
      [3, 2, 6, 3, 0],
      [2, 5, 3, 2, 2],
      [6, 5, 2, 1, 0],
      [0, 2, 2, 3, 7],
    ])
    expect(agreement.fleiss_kappa).toBeCloseTo(0.21, 3)
    expect(agreement.percent_agreement).toBeCloseTo(0.378, 3)
    expect(agreement.cohen_kappa).toBeNull()
    expect(agreement.krippendorff_alpha_interval).toBeNull()
  })

  test("Cohen: two readers who agree on 0.7 of fifty applications have kappa 0.4", () => {
    const first = "1".repeat(25) + "0".repeat(25)
    const second = "1".repeat(20) + "0".repeat(5) + "1".repeat(10) + "0".repeat(15)
    const agreement = agreementOf(first, second)
    expect(agreement.percent_agreement).toBeCloseTo(0.7, 12)
    expect(agreement.cohen_kappa).toBeCloseTo(0.4, 12)
    expect(agreement.fleiss_kappa).toBeNull()
  })
})

describe("edges", () => {
  test("coefficients are null when there is nothing to compare, or one category alone", () => {
    expect(agreementOf("1", ".")).toEqual({
      annotators: 0,
      units: 0,
      labels: 0,
      percent_agreement: null,
      cohen_kappa: null,
      fleiss_kappa: null,
      krippendorff_alpha_nominal: null,
      krippendorff_alpha_interval: null,
    })
    expect(agreementOf("111", "111")).toMatchObject({
      percent_agreement: 1,
      cohen_kappa: null,
      krippendorff_alpha_nominal: null,
      krippendorff_alpha_interval: null,
    })
  })

  test("interval alpha loses no precision on numbers far from zero", () => {
    const tally = new AgreementTally()
    for (const [a, b] of [
      [1e9 + 1, 1e9 + 1],
      [1e9 + 2, 1e9 + 3],
      [1e9 + 5, 1e9 + 5],
    ]) {
      tally.add(
        new Map([
          ["x", a],
          ["y", b],
        ]),
      )
    }
    // By hand: D_o = 2/6, D_e = 204/30.
    const values = [1, 1, 2, 3, 5, 5]
    const expected = values.flatMap((x) => values.map((y) => (x - y) ** 2)).reduce((total, one) => total + one, 0) / 30
    expect(tally.result().krippendorff_alpha_interval).toBeCloseTo(1 - 2 / 6 / expected, 9)
  })

  test("isDisputed compares labels as JSON values, whatever the order of keys", () => {
    expect(
      isDisputed(
        new Map<string, unknown>([
          ["x", { a: 1, b: [2] }],
          ["y", { b: [2], a: 1 }],
        ]),
      ),
    ).toBe(false)
    expect(
      isDisputed(
        new Map<string, unknown>([
          ["x", [1, 2]],
          ["y", [2, 1]],
        ]),
      ),
    ).toBe(true)
    expect(
      isDisputed(
        new Map<string, unknown>([
          ["x", "1"],
          ["y", 1],
        ]),
      ),
    ).toBe(true)
  })
})

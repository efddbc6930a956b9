import { describe, expect, test } from "vitest"
import { DropTally } from "../drop-tally.ts"
import { pairingBy, type PairRow } from "./pair-rows.ts"

type Row = Partial<PairRow<null>["row"]> & { id: string }

function paired(from: "score" | "vote" | "fields", rows: readonly Row[]) {
  const drops = new DropTally()
  const pairing = pairingBy<null>(from, drops)
  for (const row of rows) {
    const whole = { same: row.id, group: "q", score: null, pair: null, ...row }
    pairing.add({ row: whole, prompt: 1, completion: 1, kept: null })
  }
  const pairs = pairing.pairs().map(({ chosen, rejected }) => [chosen.row.id, rejected.row.id])
  const dropped = drops.list().map(({ cause, count, examples }) => [cause, count, examples[0]?.detail])
  return { pairs, dropped, counts: pairing.counts() }
}

describe("by a score", () => {
  test("the best answer to a question against the worst; those between are told", () => {
    const scores = [2, 5, 1, 3, 5]
    const rows = scores.map((score, place) => ({ id: `c${place}`, score }))
    expect(paired("score", rows)).toEqual({
      pairs: [["c1", "c2"]],
      dropped: [["between", 3, "call c1 is as good or better, call c2 as bad or worse"]],
      counts: { groups: 1, withoutContrast: 0, ofOne: 0 },
    })
  })

  test("questions are not mixed; one answer alone, and equal scores, make no pair", () => {
    const rows = [
      { id: "a", group: "1", score: 1 },
      { id: "b", group: "2", score: 1 },
      { id: "c", group: "2", score: 1 },
      { id: "d", group: "3", score: 0 },
      { id: "e", group: "3", score: 1 },
    ]
    expect(paired("score", rows)).toEqual({
      pairs: [["e", "d"]],
      dropped: [
        ["tie", 2, "call b has the same score"],
        ["no_other", 1, "it is the only answer to its question"],
      ],
      counts: { groups: 3, withoutContrast: 1, ofOne: 1 },
    })
  })
})

const vote = (over: string[], isEqual = false) => ({ over, isEqual })

describe("by votes", () => {
  test("an answer against each that it was preferred to", () => {
    const rows = [
      { id: "a", pair: vote(["b", "c"]) },
      { id: "b", pair: vote([]) },
      { id: "c", pair: vote([]) },
    ]
    expect(paired("vote", rows)).toEqual({
      pairs: [
        ["a", "b"],
        ["a", "c"],
      ],
      dropped: [],
      counts: null,
    })
  })

  test.each([
    [[{ id: "a", pair: vote(["gone"]) }], "no_other", "call gone, to which it was preferred, is not among the rows"],
    [[{ id: "a" }], "no_other", "nobody has voted on it"],
    [
      [
        { id: "a", pair: vote(["b"]) },
        { id: "b", group: "other", pair: vote([]) },
      ],
      "other_question",
      "call b, to which it was preferred, was asked something else",
    ],
    [
      [
        { id: "a", same: "x", pair: vote(["b"]) },
        { id: "b", same: "x", pair: vote([]) },
      ],
      "tie",
      "call b says the same",
    ],
  ])("%j: %s", (rows, cause, detail) => {
    const { pairs, dropped } = paired("vote", rows)
    expect(pairs).toEqual([])
    expect(dropped[0]).toEqual([cause, 1, detail])
  })

  test("one that was found equal may still be the worse of another vote; else it is a tie", () => {
    const rows = [
      { id: "a", pair: vote(["b"]) },
      { id: "b", pair: vote([], true) },
      { id: "c", pair: vote([], true) },
    ]
    expect(paired("vote", rows)).toMatchObject({
      pairs: [["a", "b"]],
      dropped: [["tie", 1, "the newest vote on it prefers none"]],
    })
  })

  test("the same preferred to the same is told once", () => {
    const rows = [
      { id: "a", same: "x", pair: vote(["b"]) },
      { id: "b", same: "y", pair: vote([]) },
      { id: "c", same: "x", pair: vote(["d"]) },
      { id: "d", same: "y", pair: vote([]) },
    ]
    const { pairs, dropped } = paired("vote", rows)
    expect(pairs).toEqual([["a", "b"]])
    expect(dropped).toContainEqual(["repeated", 1, "the same was preferred to what call d says"])
  })
})

test("by fields: the two answers of a row; half of one that is too long is no pair", () => {
  const side = (id: string, which: "chosen" | "rejected", same: string) => ({ id, same, pair: { side: which } })
  const rows = [
    side("a", "chosen", "1"),
    side("a", "rejected", "2"),
    side("b", "chosen", "3"),
    side("c", "rejected", "4"),
    side("d", "chosen", "1"),
    side("d", "rejected", "2"),
  ]
  expect(paired("fields", rows)).toEqual({
    pairs: [["a", "a"]],
    dropped: [["repeated", 1, "the one that came first is kept"]],
    counts: null,
  })
})

import { expect, test } from "vitest"
import { diffWords } from "./word-diff.ts"

const shown = (before: string, after: string) =>
  diffWords(before, after)
    .map(({ kind, text }) => ({ same: text, removed: `[-${text}-]`, added: `{+${text}+}` })[kind])
    .join("")

test.each([
  ["", "", ""],
  ["one two", "one two", "one two"],
  ["", "new", "{+new+}"],
  ["old", "", "[-old-]"],
  ["send a free label", "send the policy", "send [-a free label-]{+the policy+}"],
  ["you can exchange it.", "you cannot exchange it.", "you [-can-]{+cannot+} exchange it."],
  ["a b c d e", "a x c y e", "a [-b-]{+x+} c [-d-]{+y+} e"],
  ["Refuse: 30 days", "Accept as a defect", "[-Refuse: 30 days-]{+Accept as a defect+}"],
  ["Refuse: 30 days", "Accept: 14.5 days", "[-Refuse-]{+Accept+}: [-30-]{+14.5+} days"],
])("%j to %j", (before, after, expected) => expect(shown(before, after)).toBe(expected))

test("words of a language without spaces are told apart", () => {
  expect(shown("退货政策", "换货政策")).toMatch(/^\[-退.*政策$/)
})

test("both texts can be put together again from the parts, whatever they are", () => {
  const words = ["a", "b", "c", " ", " ", "\n", "é", "😀", ","]
  let state = 7
  const draw = () => (state = (state * 48271) % 2147483647)
  for (let turn = 0; turn < 300; turn += 1) {
    const text = () => Array.from({ length: draw() % 40 }, () => words[draw() % words.length]).join("")
    const [before, after] = [text(), text()]
    const parts = diffWords(before, after)
    const of = (kind: string) => parts.filter((part) => part.kind === kind || part.kind === "same")
    expect(
      of("removed")
        .map(({ text: part }) => part)
        .join(""),
    ).toBe(before)
    expect(
      of("added")
        .map(({ text: part }) => part)
        .join(""),
    ).toBe(after)
  }
})

test("texts with nothing in common are replaced as a whole, soon", () => {
  const [before, after] = ["x ".repeat(20_000), "y ".repeat(20_000)].map((text) => text.trim())
  expect(diffWords(before ?? "", after ?? "")).toEqual([
    { kind: "removed", text: before },
    { kind: "added", text: after },
  ])
})

import { expect, test } from "vitest"
import { heatOf, tokenAt, tokenWords, visibleText } from "./token-values.ts"

const tokens = {
  token_ids: [5, 6],
  texts: ["so", "\n"],
  sampled_logprobs: [-0.5, null],
  trained: [true, false],
  logprobs: [-0.25, null],
  ratios: [1.284, null],
  clipped: [true, false],
}
const sequence = { advantage: -1.5, weight: 0.75 }

test("a trained token has its surprise and ratio, and the advantage of its sequence", () => {
  const token = tokenAt(tokens, 0, sequence)
  expect([heatOf(token, "surprise"), heatOf(token, "ratio"), heatOf(token, "advantage")]).toEqual([0.5, 1.284, -1.5])
  expect(tokenWords(token, "surprise")).toBe("probability 60.7\u202f%, trained, outside the clip range")
  expect(tokenWords(token, "ratio")).toBe("ratio 1.284, trained, outside the clip range")
})

test("a token that is not trained has no advantage, whatever its sequence has", () => {
  const token = tokenAt(tokens, 1, sequence)
  expect([heatOf(token, "surprise"), heatOf(token, "ratio"), heatOf(token, "advantage")]).toEqual([null, null, null])
  expect(tokenWords(token, "advantage")).toBe("no advantage, not trained")
})

test.each([
  ["", "·"],
  ["a\n", "a↵\n"],
])("white space of %j is seen", (text, shown) => expect(visibleText(text)).toBe(shown))

import { expect, test } from "vitest"
import { keyFromAuthorization } from "./principal.ts"

const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`

test.each([
  ["Bearer abc", "abc"],
  ["bearer  abc ", "abc"],
  [basic("api:abc"), "abc"],
  [basic("api:with:colon"), "with:colon"],
  [basic("somebody:abc"), null],
  [basic("api"), null],
  ["abc", null],
  ["Bearer", null],
  ["Token abc", null],
  ["", null],
  [undefined, null],
])("training-api 5.1: the key of %j is %j", (header, key) => expect(keyFromAuthorization(header)).toBe(key))

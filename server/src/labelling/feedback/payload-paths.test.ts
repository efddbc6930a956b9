import { expect, test } from "vitest"
import { payloadPaths } from "./payload-paths.ts"

test("objects 5: the scalars of payloads by dotted path, with the type that all of them have", () => {
  const payloads = [
    { output: { score: 1, label: "a", ok: true, list: [1], "a.b": 1 }, note: null, mixed: 1 },
    { output: { score: 0.5, ok: null }, mixed: "x", "": 1, " ": 2 },
    [1],
    null,
  ]
  expect(payloadPaths(payloads)).toEqual([
    { json_path: "mixed", value_type: "categorical" },
    { json_path: "note", value_type: null },
    { json_path: "output.label", value_type: "categorical" },
    { json_path: "output.ok", value_type: "boolean" },
    { json_path: "output.score", value_type: "numeric" },
  ])
})

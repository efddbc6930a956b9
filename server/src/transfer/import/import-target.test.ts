import { expect, test } from "vitest"
import { moveRefs } from "./import-target.ts"

test("refs move into a project whatever its name", () => {
  const project = { id: "1", entityId: "2", entity: "acme", project: "$&$1", name: "acme/$&$1", userId: "u" }
  const text = '["weave:///old/p/call/1","weave:///old/p2/call/1"]'
  expect(moveRefs(text, project, "old/p")).toBe('["weave:///acme/$&$1/call/1","weave:///old/p2/call/1"]')
})

import { expect, test } from "vitest"
import { draftCounts, keepDraft, keptDraft, updatesOf, withAdded, withRow } from "./dataset-draft.ts"

function store() {
  const texts = new Map<string, string>()
  return {
    getItem: (key: string) => texts.get(key) ?? null,
    setItem: (key: string, text: string) => void texts.set(key, text),
    removeItem: (key: string) => void texts.delete(key),
  }
}

const empty = keptDraft(store(), "v1")

test("changes are applied from the end of the table, and what is new comes last", () => {
  let draft = withRow(empty, 2, '{"a":1.0}')
  draft = withRow(draft, 10, null)
  draft = withAdded(withAdded(draft, 0, '{"a":5}'), 1, '{"a":6}')
  expect(draftCounts(draft)).toEqual({ added: 2, removed: 1, changed: 1 })
  expect(updatesOf(draft)).toBe(
    '[{"pop":{"index":10}},{"pop":{"index":2}},{"insert":{"index":2,"row":{"a":1.0}}},' +
      '{"append":{"row":{"a":5}}},{"append":{"row":{"a":6}}}]',
  )
})

test("a row that is put back, and a new one that is forgotten, are in no update", () => {
  const draft = withAdded(withRow(withAdded(withRow(empty, 2, null), 0, "{}"), 2, undefined), 0, null)
  expect(draftCounts(draft)).toEqual({ added: 0, removed: 0, changed: 0 })
  expect(updatesOf(draft)).toBe("[]")
})

test("a draft is kept by the version that it changes", () => {
  const kept = store()
  const draft = withRow(empty, 0, null)
  expect(keepDraft(kept, "v1", draft)).toBe(true)
  expect([keptDraft(kept, "v1"), keptDraft(kept, "v2")]).toEqual([draft, empty])
})

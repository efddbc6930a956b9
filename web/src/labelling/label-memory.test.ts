import { expect, test } from "vitest"
import { labelledItem } from "./finished-item.ts"
import type { Draft } from "./label-draft.ts"
import { fieldOf } from "./label-fields.ts"
import { browserMemory } from "./label-memory.ts"
import { type Item, LabelSession } from "./label-session.ts"

const rude: Draft = { answers: { tone: "rude" }, note: "" }
const item = { id: "a", call_id: "call-a" } as Item

/** A browser that has no room for anything. */
const full: Storage = {
  length: 0,
  key: () => null,
  getItem: () => null,
  setItem: () => {
    throw new DOMException("full", "QuotaExceededError")
  },
  removeItem: () => undefined,
  clear: () => undefined,
}

function roomy(): Storage {
  const kept = new Map<string, string>()
  return {
    get length() {
      return kept.size
    },
    key: (index) => [...kept.keys()][index] ?? null,
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key),
    clear: () => kept.clear(),
  }
}

test("what waits over a reload keeps the digits of its numbers", () => {
  const memory = browserMemory(roomy(), "user", "queue")
  const any = fieldOf("weave:///e/p/object/any:v0", "any", { field_schema: { type: "object" } })
  const typed: Draft = { answers: { any: '{"id":9007199254740993}' }, note: "" }
  const entry = labelledItem(item, any === null ? [] : [any], typed, null)
  memory.setWaiting("a", { ...entry, at: 1, isUnsure: false, refusal: null })
  const [waiting] = memory.waiting()
  expect(JSON.stringify(waiting?.labels[0]?.value)).toBe('{"id":9007199254740993}')
})

test("labels are given and sent from a browser that has no room to keep them", async () => {
  const sent: string[] = []
  const session = new LabelSession({
    queueId: "queue",
    leaseSeconds: 60,
    ahead: 0,
    memory: browserMemory(full, "user", "queue"),
    requests: {
      next: async () => ({ item: sent.length === 0 ? item : null, leased_by_others: 0 }),
      hold: async () => item,
      begin: async () => undefined,
      release: async () => undefined,
      save: async () => void sent.push("save"),
      finish: async () => void sent.push("finish"),
      undo: async () => true,
    },
  })
  session.open(null)
  await expect.poll(() => session.current().phase).toBe("working")
  session.setDraft("a", rude)
  expect(session.current().drafts.get("a")).toEqual(rude)
  session.finish([{ item, state: "completed", draft: rude, labels: [], note: null, text: "rude" }])
  await expect.poll(() => session.current().phase).toBe("empty")
  expect(sent).toEqual(["save", "finish"])
  session.close()
})

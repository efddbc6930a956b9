import { expect, test } from "vitest"
import type { Draft } from "./label-draft.ts"
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

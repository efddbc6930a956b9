import { describe, expect, test, vi } from "vitest"
import { ApiError } from "../api/api-error.ts"
import { skippedItem } from "./finished-item.ts"
import { emptyDraft, type Draft } from "./label-draft.ts"
import type { LabelMemory } from "./label-memory.ts"
import {
  draftIn,
  type HandedOut,
  type Item,
  type LabelRequests,
  LabelSession,
  type SentItem,
  type WaitingItem,
} from "./label-session.ts"

const item = (id: string) => ({ id, call_id: `call-${id}` }) as Item
const offline = new ApiError("The server does not answer.", { status: 0, code: "offline" })
const refused = (status: number) => new ApiError("no", { status, code: "x", requestId: "req" })
const labels = [{ feedbackId: "f", field: "tone", ref: "weave:///e/p/object/tone:1", value: "rude", suggestion: null }]
const rude: Draft = { answers: { tone: "rude" }, note: "" }

function memory(): LabelMemory {
  const [drafts, waiting] = [new Map<string, Draft>(), new Map<string, WaitingItem>()]
  let done: readonly SentItem[] = []
  return {
    drafts: () => new Map(drafts),
    setDraft: (id, draft) => void (draft === null ? drafts.delete(id) : drafts.set(id, draft)),
    waiting: () => [...waiting.values()],
    setWaiting: (id, entry) => void (entry === null ? waiting.delete(id) : waiting.set(id, entry)),
    done: () => [...done],
    setDone: (items) => void (done = items),
  }
}

/** A queue as the server has it. */
function queueOf(...ids: string[]) {
  const open = [...ids]
  const log: string[] = []
  let failure: ApiError | null = null
  const step = <Answer>(what: string, answer: () => Answer): Promise<Answer> => {
    if (failure !== null) return Promise.reject(failure)
    log.push(what)
    return Promise.resolve(answer())
  }
  const requests: LabelRequests = {
    next: (ahead) =>
      step("next", (): HandedOut => {
        const [first, ...more] = open.slice(0, ahead + 1).map(item)
        return { item: first ?? null, leased_by_others: 0, ahead: more.map((one) => ({ item: one })) }
      }),
    hold: (id) => step(`hold ${id}`, () => item(id)),
    begin: (id) => step(`begin ${id}`, () => undefined),
    release: (id) => step(`release ${id}`, () => undefined),
    save: ({ item: { id } }) => step(`save ${id}`, () => undefined),
    finish: (id) => step(`finish ${id}`, () => void open.splice(open.indexOf(id), 1)),
    undo: (id) => step(`undo ${id}`, () => open.unshift(id) > 0),
  }
  return { id: crypto.randomUUID(), open, log, requests, fail: (error: ApiError | null) => (failure = error) }
}

function work(queue: ReturnType<typeof queueOf>, kept = memory()) {
  const options = { queueId: queue.id, leaseSeconds: 60, ahead: 2, memory: kept }
  const session = new LabelSession({ ...options, requests: queue.requests })
  const heldIds = () => session.current().held.map(({ id }) => id)
  const label = (id: string) =>
    session.finish([{ item: item(id), state: "completed", draft: rude, labels, note: null, text: "rude" }])
  return { session, heldIds, label, kept }
}

describe("items in hand", () => {
  test("the next one is there at once, and the server is told behind it, in order", async () => {
    const queue = queueOf("a", "b", "c", "d")
    const { session, heldIds, label } = work(queue)
    session.open(null)
    await expect.poll(heldIds).toEqual(["a", "b", "c"])
    label("a")
    label("b")
    expect(heldIds()).toEqual(["c"])
    await expect.poll(heldIds).toEqual(["c", "d"])
    expect(queue.log).toEqual(["next", "save a", "finish a", "hold b", "save b", "finish b", "next", "next"])
    expect(session.current()).toMatchObject({ waiting: [], phase: "working" })
  })

  test("who finishes all that an answer on its way hands out is not told that nothing is left", async () => {
    const queue = queueOf("a", "b", "c", "d")
    const { session, heldIds, label } = work(queue)
    session.open(null)
    await expect.poll(heldIds).toEqual(["a", "b", "c"])
    const phases: string[] = []
    session.subscribe(() => phases.push(session.current().phase))
    const { next } = queue.requests
    queue.requests.next = async (ahead) => {
      queue.requests.next = next
      const answer = await next(ahead)
      for (const id of ["a", "b", "c"]) label(id)
      return answer
    }
    session.retry()
    await expect.poll(heldIds).toEqual(["d"])
    expect(phases).not.toContain("empty")
    expect(session.current()).toMatchObject({ waiting: [], phase: "working" })
  })

  test("one that somebody else has now is said, its draft stays, and the next one follows", async () => {
    const queue = queueOf("a", "b", "c")
    const { session, heldIds, kept, label } = work(queue)
    session.open(null)
    await expect.poll(heldIds).toEqual(["a", "b", "c"])
    session.setDraft("b", rude)
    queue.open.splice(1, 1)
    label("a")
    await expect.poll(() => session.current().lost).toBe("b")
    session.letGo()
    await expect.poll(heldIds).toEqual(["c"])
    expect(kept.drafts()).toEqual(new Map([["b", rude]]))
  })

  test("one that went to somebody else before anything was chosen makes place without a word", async () => {
    const queue = queueOf("a", "b", "c")
    const { session, heldIds, label } = work(queue)
    session.open(null)
    await expect.poll(heldIds).toEqual(["a", "b", "c"])
    queue.open.splice(1, 1)
    label("a")
    await expect.poll(heldIds).toEqual(["c"])
    expect(session.current().lost).toBeNull()
  })

  test("labels of one that went to somebody else meanwhile are not stored, and are told of", async () => {
    const queue = queueOf("a", "b", "c")
    const { session, heldIds, label } = work(queue)
    session.open(null)
    await expect.poll(heldIds).toEqual(["a", "b", "c"])
    queue.requests.hold = () => Promise.reject(refused(409))
    label("a")
    label("b")
    await expect.poll(() => session.current().waiting[0]?.refusal?.status).toBe(409)
    expect(queue.log.filter((one) => one.startsWith("save"))).toEqual(["save a"])
  })

  test("one whose lease has ended is asked for before its labels are stored", async () => {
    const queue = queueOf("a", "b", "c")
    const { session, heldIds, label } = work(queue)
    session.open(null)
    await expect.poll(heldIds).toEqual(["a", "b", "c"])
    queue.requests.hold = () => Promise.reject(refused(409))
    const now = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 61_000)
    // The key that submits is the first one that was pressed for long.
    session.touch()
    label("a")
    await expect.poll(() => session.current().waiting[0]?.refusal?.status).toBe(409)
    now.mockRestore()
    expect(queue.log.filter((one) => one.startsWith("save"))).toEqual([])
  })

  test("one behind the first, which may have gone to somebody else, is asked for before its labels are stored", async () => {
    const queue = queueOf("a", "b", "c")
    const { session, heldIds, label } = work(queue)
    session.open(null)
    await expect.poll(heldIds).toEqual(["a", "b", "c"])
    queue.requests.hold = () => Promise.reject(refused(409))
    label("b")
    await expect.poll(() => session.current().waiting[0]?.refusal?.status).toBe(409)
    session.finish([skippedItem(item("c"), emptyDraft, "")])
    await expect.poll(() => queue.log.includes("finish c")).toBe(true)
    expect(queue.log.filter((one) => one.startsWith("save b"))).toEqual([])
  })

  test("one whose sending had no answer is finished before its labels are stored, once its lease has ended", async () => {
    const queue = queueOf("a", "b")
    const { session, heldIds, label } = work(queue)
    session.open(null)
    await expect.poll(heldIds).toEqual(["a", "b"])
    const { save, finish } = queue.requests
    queue.requests.save = () => Promise.reject(offline)
    label("a")
    await expect.poll(() => session.current().error).toBe(offline)
    queue.requests.save = save
    queue.requests.finish = () => Promise.reject(refused(409))
    const now = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 61_000)
    session.retry()
    await expect.poll(() => session.current().waiting[0]?.refusal?.status).toBe(409)
    now.mockRestore()
    queue.requests.finish = finish
    expect(queue.log.filter((one) => one.startsWith("save"))).toEqual([])
  })

  test("one that is known to be lost, or was refused before, is asked for before its labels are stored", async () => {
    const queue = queueOf("a", "b")
    const { session, heldIds, label } = work(queue)
    session.open(null)
    await expect.poll(heldIds).toEqual(["a", "b"])
    const { save } = queue.requests
    queue.requests.save = () => Promise.reject(refused(400))
    label("a")
    await expect.poll(() => session.current().waiting[0]?.refusal?.status).toBe(400)
    queue.requests.save = save
    queue.requests.hold = () => Promise.reject(refused(409))
    session.reopen("a")
    await expect.poll(() => session.current().lost).toBe("a")
    label("a")
    await expect.poll(() => session.current().waiting[0]?.refusal?.status).toBe(409)
    expect(queue.log.filter((one) => one.startsWith("save"))).toEqual([])
  })

  test("a draft of one behind the first is told once, and whatever is pressed prolongs all that is held", async () => {
    const queue = queueOf("a", "b", "c")
    const { session, heldIds } = work(queue)
    session.open(null)
    await expect.poll(heldIds).toEqual(["a", "b", "c"])
    for (const id of ["a", "b", "b"]) session.setDraft(id, rude)
    session.touch()
    const now = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 40_000)
    session.touch()
    session.touch()
    const asked = ["next", "hold b", "begin b", "hold a", "next"]
    await expect.poll(() => queue.log).toEqual(asked)
    session.touch()
    now.mockRestore()
    expect(queue.log).toEqual(asked)
  })

  test("nothing left, a deleted queue, and no right are told apart", async () => {
    const phases = []
    for (const error of [null, refused(404), refused(403)]) {
      const queue = queueOf()
      queue.fail(error)
      const { session } = work(queue)
      session.open(null)
      await expect.poll(() => session.current().phase).not.toBe("asking")
      phases.push(session.current().phase)
      session.close()
    }
    expect(phases).toEqual(["empty", "gone", "refused"])
  })

  test("who leaves gives back what is not begun", async () => {
    const queue = queueOf("a", "b")
    const { session, heldIds } = work(queue)
    session.open(null)
    await expect.poll(heldIds).toEqual(["a", "b"])
    session.setDraft("a", rude)
    session.close()
    expect(queue.log).toEqual(["next", "release b"])
  })

  test("who leaves before the items come gives them back, but for those that were begun", async () => {
    const queue = queueOf("a", "b")
    const { next, hold } = queue.requests
    const begun = memory()
    begun.setDraft("a", rude)
    const leavesAtNext = work(queue, begun).session
    queue.requests.next = async (ahead) => {
      leavesAtNext.close()
      return next(ahead)
    }
    leavesAtNext.open(null)
    await expect.poll(() => queue.log).toEqual(["next", "release b"])
    const leavesAtHold = work(queue).session
    queue.requests.hold = async (id) => {
      leavesAtHold.close()
      return hold(id)
    }
    leavesAtHold.open("a")
    await expect.poll(() => queue.log.slice(2)).toEqual(["hold a", "release a"])
    expect(leavesAtHold.current().held).toEqual([])
  })

  test("who is back before the items came keeps them: the server's leases are of the person", async () => {
    const queue = queueOf("a", "b")
    const { next } = queue.requests
    const slow = Promise.withResolvers<void>()
    const left = work(queue).session
    queue.requests.next = async (ahead) => {
      left.close()
      queue.requests.next = next
      await slow.promise
      return next(ahead)
    }
    left.open(null)
    await expect.poll(() => queue.requests.next).toBe(next)
    const { session, heldIds } = work(queue)
    session.open(null)
    await expect.poll(heldIds).toEqual(["a", "b"])
    slow.resolve()
    await expect.poll(() => queue.log).toEqual(["next", "next"])
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(queue.log).toEqual(["next", "next"])
    session.close()
  })
})

test("who leaves right after the last key has labelled all the same", async () => {
  const queue = queueOf("a", "b")
  const { session, heldIds, label, kept } = work(queue)
  session.open(null)
  await expect.poll(heldIds).toEqual(["a", "b"])
  label("a")
  label("b")
  session.close()
  await expect.poll(() => queue.log.at(-1)).toBe("finish b")
  expect(kept.waiting()).toEqual([])
})

describe("what cannot be sent", () => {
  test("waits while the server is away, also over a reload, and is sent once", async () => {
    const queue = queueOf("a", "b")
    const { session, heldIds, label, kept } = work(queue)
    session.open(null)
    await expect.poll(heldIds).toEqual(["a", "b"])
    queue.fail(offline)
    session.setDraft("a", rude)
    label("a")
    await expect.poll(() => session.current().error).toBe(offline)
    expect([heldIds(), session.current().waiting.length]).toEqual([["b"], 1])
    session.close()
    queue.fail(null)
    const again = work(queue, kept)
    expect(again.session.current().waiting.map((one) => one.item.id)).toEqual(["a"])
    again.session.open(null)
    await expect.poll(again.heldIds).toEqual(["b"])
    expect(queue.log.filter((one) => one.endsWith(" a"))).toEqual(["finish a", "save a"])
    expect([kept.waiting(), kept.drafts().size]).toEqual([[], 0])
  })

  test("is tried again by itself", async () => {
    vi.useFakeTimers()
    try {
      const queue = queueOf("a")
      queue.fail(offline)
      const { session, heldIds } = work(queue)
      session.open(null)
      await vi.advanceTimersByTimeAsync(0)
      expect(session.current().error).toBe(offline)
      queue.fail(null)
      await vi.advanceTimersByTimeAsync(20_000)
      expect([heldIds(), session.current().error]).toEqual([["a"], null])
    } finally {
      vi.useRealTimers()
    }
  })

  test("what the server refuses stays with its reason, and can be opened again with its answers", async () => {
    const queue = queueOf("a", "b")
    const { session, heldIds, kept } = work(queue)
    session.open(null)
    await expect.poll(heldIds).toEqual(["a", "b"])
    const { save } = queue.requests
    queue.requests.save = () => Promise.reject(refused(400))
    session.setDraft("a", rude)
    session.finish([{ item: item("a"), state: "completed", draft: rude, labels: [], note: null, text: "rude" }])
    await expect.poll(() => session.current().waiting[0]?.refusal?.requestId).toBe("req")
    expect(session.current().done).toEqual([])
    queue.requests.save = save
    session.reopen("a")
    expect([heldIds(), draftIn(session.current(), "a")]).toEqual([["a", "b"], rude])
    expect(kept.waiting()).toEqual([])
  })
})

describe("undo", () => {
  test("of what is sent asks the server, and brings the answers back", async () => {
    const queue = queueOf("a", "b")
    const { session, heldIds, label } = work(queue)
    session.open(null)
    await expect.poll(heldIds).toEqual(["a", "b"])
    label("a")
    await expect.poll(() => queue.log.filter((one) => one === "next").length).toBe(2)
    session.undo()
    await expect.poll(heldIds).toEqual(["a", "b"])
    expect(draftIn(session.current(), "a")).toEqual(rude)
    // It was leased after the other, so it could be given away as if it were not begun.
    await expect.poll(() => queue.log.slice(-3)).toEqual(["undo a", "hold a", "begin a"])
  })

  test("of what waits still asks nobody", async () => {
    const queue = queueOf("a", "b")
    const { session, heldIds, label } = work(queue)
    session.open(null)
    await expect.poll(heldIds).toEqual(["a", "b"])
    queue.fail(offline)
    label("a")
    await expect.poll(() => session.current().error).toBe(offline)
    session.undo()
    expect([heldIds(), session.current().waiting]).toEqual([["a", "b"], []])
    expect(queue.log.some((one) => one.startsWith("undo"))).toBe(false)
    session.close()
  })

  test("twenty can be taken back, the last first; a skip too", async () => {
    const ids = Array.from({ length: 24 }, (_, index) => `i${index}`)
    const queue = queueOf(...ids)
    const { session } = work(queue)
    session.open(null)
    for (const id of ids) session.finish([skippedItem(item(id), emptyDraft, "")])
    await expect.poll(() => session.current().phase).toBe("empty")
    expect(session.current().done.map((one) => one.item.id)).toEqual(ids.slice(4))
    session.undo()
    await expect.poll(() => session.current().held[0]?.id).toBe("i23")
    session.close()
  })

  test("what cannot be taken back any more says why", async () => {
    const queue = queueOf("a", "b")
    const { session, heldIds, label } = work(queue)
    session.open(null)
    await expect.poll(heldIds).toEqual(["a", "b"])
    label("a")
    await expect.poll(() => session.current().waiting.length).toBe(0)
    const error = refused(400)
    queue.requests.undo = () => Promise.reject(error)
    session.undo()
    await expect.poll(() => session.current().undoError).toBe(error)
    expect(heldIds()).toEqual(["b"])
  })
})

/**
 * Somebody's work on one queue: the items in hand, what was answered, what waits to be sent, what can be taken back. The next
 * item is there at once: it was held and read before, and what was answered is sent behind the page's back, one request after
 * the other, until the server has it. What it refuses stays, with the reason.
 */
import type { AnnotationItem } from "@heddle/server/wire/labelling/annotation-queue.ts"
import { ApiError } from "../api/api-error.ts"
import { type Draft, emptyDraft, isEmpty } from "./label-draft.ts"
import type { LabelMemory } from "./label-memory.ts"

export type Item = AnnotationItem

export interface NewLabel {
  /** Chosen here, so that sending it again stores it once. */
  feedbackId: string
  field: string
  ref: string
  value: unknown
  suggestion: { value: unknown; feedback_id: string } | null
}

interface Finished {
  item: Item
  state: "completed" | "skipped"
  draft: Draft
  /** In a line, for lists. */
  text: string
  /** When, in this browser's milliseconds. */
  at: number
}

/** Finished here, and not by the server yet. */
export interface WaitingItem extends Finished {
  labels: readonly NewLabel[]
  note: { feedbackId: string; text: string } | null
  /** When it was finished, it was not certain that the server had it in hand: somebody else may have it. */
  isUnsure: boolean
  /** Why the server does not take it; null: it is to be sent. */
  refusal: Refusal | null
}

interface Refusal {
  message: string
  status: number
  code: string
  requestId: string | null
}

export type NewEntry = Omit<WaitingItem, "at" | "isUnsure" | "refusal">

/** Can be taken back. */
export type SentItem = Finished

export interface HandedOut {
  item: Item | null
  leased_by_others: number
  ahead?: readonly { item: Item }[] | undefined
}

/** The requests it sends. Each fails with an {@link ApiError}. */
export interface LabelRequests {
  next: (ahead: number) => Promise<HandedOut>
  hold: (itemId: string) => Promise<Item>
  /** Says that it was begun: an item that was not may go to somebody who would have none. */
  begin: (itemId: string) => Promise<void>
  release: (itemId: string) => Promise<void>
  /** Its labels and its note. */
  save: (entry: WaitingItem) => Promise<void>
  finish: (itemId: string, state: "completed" | "skipped") => Promise<void>
  /** Whether the item is the caller's again. */
  undo: (itemId: string) => Promise<boolean>
}

export interface LabelState {
  /** `gone`: the queue was deleted; `refused`: the caller may not label. */
  phase: "asking" | "working" | "empty" | "gone" | "refused"
  /** The first is in hand. */
  held: readonly Item[]
  drafts: ReadonlyMap<string, Draft>
  waiting: readonly WaitingItem[]
  /** The newest last. */
  done: readonly SentItem[]
  /** Why the server could not be asked the last time; null: it answered. */
  error: ApiError | null
  /** Items that come back perhaps, when nothing is left. */
  othersHold: number
  /** When the leases end, in this browser's milliseconds. */
  leases: ReadonlyMap<string, number>
  /** The item in hand that somebody else has now. */
  lost: string | null
  /** Why the last undo was not done. */
  undoError: ApiError | null
}

interface Options {
  queueId: string
  leaseSeconds: number
  /** Items held behind the one in hand. */
  ahead: number
  memory: LabelMemory
  requests: LabelRequests
}

/** Answers about an item so far. */
export function draftIn({ drafts }: LabelState, itemId: string): Draft {
  return drafts.get(itemId) ?? emptyDraft
}

export const mostUndone = 20
const firstRetryMs = 1_000
const lastRetryMs = 15_000
/** So often it is asked whether something came free. */
const emptyMs = 10_000

/** Those that are open in this page. */
const openSessions = new Set<LabelSession>()

export class LabelSession {
  readonly #options: Options
  readonly #listeners = new Set<() => void>()
  #state: LabelState
  /** Requests go one after the other: an answer never tells of what is not sent yet. */
  #chain: Promise<void> = Promise.resolve()
  #sending: string | null = null
  /** Items whose labels may be with the server already. */
  readonly #tried = new Set<string>()
  /** Items that the server was told were begun. */
  readonly #begun = new Set<string>()
  /** Items that were leased after others that this user may hold. */
  readonly #late = new Set<string>()
  #isProlonging = false
  #retries = 0
  #timer: ReturnType<typeof setTimeout> | null = null
  #ahead: number
  #isClosed = false

  constructor(options: Options) {
    this.#options = options
    this.#ahead = options.ahead
    const { memory } = options
    for (const { item, refusal } of memory.waiting()) if (refusal === null) this.#tried.add(item.id)
    this.#state = {
      phase: "asking",
      held: [],
      drafts: memory.drafts(),
      waiting: memory.waiting(),
      done: memory.done(),
      error: null,
      othersHold: 0,
      leases: new Map(),
      lost: null,
      undoError: null,
    }
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
  readonly current = (): LabelState => this.#state

  #set(changes: Partial<LabelState>): void {
    this.#state = { ...this.#state, ...changes }
    for (const listener of this.#listeners) listener()
  }

  /** Begins, with this item in hand where one is named. */
  open(itemId: string | null): void {
    this.#isClosed = false
    openSessions.add(this)
    this.#enqueue(async () => {
      if (itemId !== null && !this.#state.waiting.some(({ item }) => item.id === itemId)) await this.#takeFirst(itemId)
      await this.#send()
      await this.#ask()
    })
  }

  /** Ends, and gives back what was not begun. What was finished is sent all the same. */
  close(): void {
    this.#isClosed = true
    openSessions.delete(this)
    if (this.#timer !== null) clearTimeout(this.#timer)
    const { held, lost } = this.#state
    this.#giveBack(held.filter(({ id }) => id !== lost))
    this.#set({ held: [], phase: "asking" })
  }

  /** All but those that were begun: others need not wait until their leases end. */
  #giveBack(items: readonly Item[]): void {
    for (const { id } of items) {
      if (!this.#state.drafts.has(id)) void this.#options.requests.release(id).catch(() => undefined)
    }
  }

  /** What came after the end. Leases are of a person: who is back in the queue meanwhile may have the same items in hand. */
  #giveBackLate(items: readonly Item[]): void {
    const { queueId } = this.#options
    if (![...openSessions].some((other) => other.#options.queueId === queueId)) this.#giveBack(items)
  }

  setAhead(ahead: number): void {
    if (ahead === this.#ahead) return
    this.#ahead = ahead
    if (this.#state.phase !== "asking") this.#enqueue(() => this.#ask())
  }

  setDraft(itemId: string, draft: Draft): void {
    const drafts = new Map(this.#state.drafts)
    const kept = isEmpty(draft) ? null : draft
    if (kept === null) drafts.delete(itemId)
    else drafts.set(itemId, kept)
    this.#options.memory.setDraft(itemId, kept)
    this.#set({ drafts })
    // The server gives nobody the item that somebody has held the longest.
    const place = this.#state.held.findIndex(({ id }) => id === itemId)
    const mayGo = place > 0 || (place === 0 && this.#late.has(itemId))
    if (kept !== null && mayGo && !this.#begun.has(itemId)) this.#begin(itemId)
  }

  #begin(itemId: string): void {
    this.#begun.add(itemId)
    this.#enqueue(async () => {
      try {
        if (this.#state.held.some(({ id }) => id === itemId)) {
          // Of an item that somebody else has by now, nothing must be said.
          await this.#options.requests.hold(itemId)
          return await this.#options.requests.begin(itemId)
        }
      } catch {
        // If somebody else has it, that is said when it is sent.
      }
      // The next change of its draft says it again.
      this.#begun.delete(itemId)
    })
  }

  /** Items that are held; what follows them is in hand at once. */
  finish(entries: readonly NewEntry[]): void {
    const { memory } = this.#options
    const at = Date.now()
    const before = this.#state.waiting.filter(({ refusal }) => refusal === null).length
    const added = entries.map((entry, index): WaitingItem => ({
      ...entry,
      at: at + index,
      isUnsure: before + index > 0 || this.#mayBeGone(entry.item.id),
      refusal: null,
    }))
    for (const entry of added) memory.setWaiting(entry.item.id, entry)
    const ids = new Set(added.map(({ item }) => item.id))
    const done = [
      ...this.#state.done,
      ...added.map(({ item, state, draft, text, at: when }) => ({ item, state, draft, text, at: when })),
    ]
    this.#setDone(done)
    const held = this.#state.held.filter(({ id }) => !ids.has(id))
    this.#set({
      held,
      waiting: [...this.#state.waiting.filter(({ item }) => !ids.has(item.id)), ...added],
      phase: held.length > 0 ? "working" : "asking",
      undoError: null,
    })
    this.#enqueue(async () => {
      if (await this.#send()) await this.#ask()
    })
  }

  /** Takes the last one back. */
  undo(): void {
    const last = this.#state.done.at(-1)
    if (last !== undefined) this.undoItem(last.item.id)
  }

  undoItem(itemId: string): void {
    const entry = this.#state.done.find(({ item }) => item.id === itemId)
    if (entry === undefined) return
    this.#setDone(this.#state.done.filter((one) => one !== entry))
    const isUnsent = this.#sending !== itemId && this.#state.waiting.some(({ item }) => item.id === itemId)
    if (isUnsent) return this.#reopen(entry)
    this.#enqueue(async () => {
      try {
        const isOwn = await this.#options.requests.undo(itemId)
        this.#reopen(entry)
        this.#set(isOwn ? { leases: this.#leasesWith([itemId]) } : { lost: itemId })
        this.#noteAnswer()
      } catch (error) {
        this.#set({ undoError: error as ApiError })
        if (isPassing(error)) this.#setDone([...this.#state.done, entry])
      }
    })
  }

  /** Takes an item that the server refused back in hand, with its answers. */
  reopen(itemId: string): void {
    const entry = this.#state.waiting.find(({ item }) => item.id === itemId)
    if (entry === undefined) return
    this.#setDone(this.#state.done.filter(({ item }) => item.id !== itemId))
    this.#reopen(entry)
    this.#enqueue(() => this.#prolong(itemId))
  }

  /** Gives up sending an item that the server refused. The draft stays on this device. */
  giveUp(itemId: string): void {
    this.#dropWaiting(itemId)
    this.#setDone(this.#state.done.filter(({ item }) => item.id !== itemId))
  }

  /** The item in hand is somebody else's: on to the next, its draft stays. */
  letGo(): void {
    // Those behind it may be gone as well: their leases were as old.
    this.#set({ held: [], lost: null, phase: "asking" })
    this.#enqueue(() => this.#ask())
  }

  /** Somebody is at work: the leases of what they hold are prolonged before the first of them ends. */
  touch(): void {
    const { held, lost, leases } = this.#state
    const [first, ...behind] = held
    if (first === undefined || lost !== null || this.#isProlonging) return
    const left = Math.min(...held.map(({ id }) => leases.get(id) ?? 0)) - Date.now()
    if (left > (this.#options.leaseSeconds * 1000) / 2) return
    this.#isProlonging = true
    this.#enqueue(async () => {
      try {
        // It may have been finished or given back meanwhile.
        if (this.#state.held[0]?.id !== first.id) return
        await this.#prolong(first.id)
        // Asking for the next prolongs all that is held.
        if (behind.length > 0 && this.#state.lost === null) await this.#ask()
      } finally {
        this.#isProlonging = false
      }
    })
  }

  retry(): void {
    this.#enqueue(async () => {
      if (await this.#send()) await this.#ask()
    })
  }

  #enqueue(work: () => Promise<void>): void {
    this.#chain = this.#after(this.#chain, work)
  }

  async #after(before: Promise<void>, work: () => Promise<void>): Promise<void> {
    await before
    await work()
  }

  #setDone(done: readonly SentItem[]): void {
    const kept = done.slice(-mostUndone)
    this.#options.memory.setDone(kept)
    this.#set({ done: kept })
  }

  #reopen({ item, draft }: Finished): void {
    this.#dropWaiting(item.id)
    this.#late.add(item.id)
    this.#set({
      held: [item, ...this.#state.held.filter(({ id }) => id !== item.id)],
      phase: "working",
      undoError: null,
    })
    this.setDraft(item.id, draft)
  }

  #dropWaiting(itemId: string): void {
    this.#options.memory.setWaiting(itemId, null)
    this.#set({ waiting: this.#state.waiting.filter(({ item }) => item.id !== itemId) })
  }

  #leasesWith(ids: readonly string[]): Map<string, number> {
    const end = Date.now() + this.#options.leaseSeconds * 1000
    return new Map([...this.#state.leases, ...ids.map((id) => [id, end] as const)])
  }

  /** Whether somebody may have been given the item meanwhile: all but the first that is in hand may go to others. */
  #mayBeGone(itemId: string): boolean {
    const { held, lost } = this.#state
    return itemId !== held[0]?.id || itemId === lost || this.#late.has(itemId)
  }

  /** Whether the lease has ended, as far as is known here. */
  #isOver(itemId: string): boolean {
    return (this.#state.leases.get(itemId) ?? 0) <= Date.now()
  }

  async #takeFirst(itemId: string): Promise<void> {
    try {
      const item = await this.#options.requests.hold(itemId)
      if (this.#isClosed) return this.#giveBackLate([item])
      this.#late.add(itemId)
      this.#set({ held: [item], phase: "working", leases: this.#leasesWith([itemId]) })
    } catch {
      // Then it is the next one.
    }
  }

  /** Sends what waits, the oldest first. Returns whether the server can be called on. */
  async #send(): Promise<boolean> {
    const { requests } = this.#options
    for (;;) {
      const entry = this.#state.waiting.find(({ refusal }) => refusal === null)
      if (entry === undefined) return true
      const { id } = entry.item
      this.#sending = id
      try {
        // Labels of an item that went to somebody else are not stored. One whose labels may be stored already is not held again.
        const [wasTried, isOver] = [this.#tried.has(id), this.#isOver(id)]
        const says = entry.labels.length > 0 || entry.note !== null
        if (says && !wasTried && (entry.isUnsure || isOver)) await requests.hold(id)
        this.#tried.add(id)
        if (wasTried && isOver) {
          await requests.finish(id, entry.state)
          await requests.save(entry)
        } else {
          await requests.save(entry)
          await requests.finish(id, entry.state)
        }
        this.#dropWaiting(id)
        // It may have been taken in hand again since.
        if (!this.#state.held.some((item) => item.id === id)) this.setDraft(id, emptyDraft)
        this.#noteAnswer()
      } catch (error) {
        if (isPassing(error)) {
          this.#noteFailure(error as ApiError)
          return false
        }
        this.#refuse(entry, error as ApiError)
      } finally {
        this.#sending = null
      }
    }
  }

  #refuse(entry: WaitingItem, error: ApiError): void {
    // Once it is opened again, it may be somebody else's.
    this.#tried.delete(entry.item.id)
    const { message, status, code, requestId } = error
    const refused = { ...entry, refusal: { message, status, code, requestId } }
    this.#options.memory.setWaiting(entry.item.id, refused)
    this.#setDone(this.#state.done.filter(({ item }) => item.id !== entry.item.id))
    this.#set({ waiting: this.#state.waiting.map((one) => (one === entry ? refused : one)) })
  }

  async #ask(): Promise<void> {
    if (this.#isClosed) return
    try {
      const { item, ahead = [], leased_by_others: othersHold } = await this.#options.requests.next(this.#ahead)
      const waiting = new Set(this.#state.waiting.map((one) => one.item.id))
      const given = [...(item === null ? [] : [item]), ...ahead.map((one) => one.item)]
      const own = new Map(given.filter(({ id }) => !waiting.has(id)).map((one) => [one.id, one]))
      if (this.#isClosed) return this.#giveBackLate([...own.values()])
      const [first, ...others] = this.#state.held
      const isAway = first !== undefined && !own.has(first.id)
      // One that went to somebody else before anything was chosen makes place for the next without a word.
      const isLost = isAway && this.#state.drafts.has(first.id)
      const kept = [
        ...(first === undefined || (isAway && !isLost) ? [] : [first]),
        ...others.filter(({ id }) => own.has(id)),
      ]
      const known = new Set(kept.map(({ id }) => id))
      const held = [...kept, ...[...own.values()].filter(({ id }) => !known.has(id))]
      // What was finished meanwhile is sent next, and then it is asked again.
      const isOver = held.length === 0 && !this.#state.waiting.some(({ refusal }) => refusal === null)
      this.#set({
        held,
        othersHold,
        phase: held.length > 0 ? "working" : isOver ? "empty" : "asking",
        leases: this.#leasesWith([...own.keys()]),
        lost: isLost ? first.id : null,
      })
      this.#noteAnswer()
      if (isOver) this.#later(emptyMs)
    } catch (error) {
      if (isPassing(error)) return this.#noteFailure(error as ApiError)
      const phase = error instanceof ApiError && error.status === 403 ? "refused" : "gone"
      this.#set({ phase, error: error as ApiError })
    }
  }

  async #prolong(itemId: string): Promise<void> {
    try {
      const item = await this.#options.requests.hold(itemId)
      if (this.#isClosed) return this.#giveBackLate([item])
      this.#set({ leases: this.#leasesWith([itemId]) })
    } catch (error) {
      if (error instanceof ApiError && error.status === 409 && this.#state.held[0]?.id === itemId)
        this.#set({ lost: itemId })
      else if (!isPassing(error)) this.#enqueue(() => this.#ask())
    }
  }

  #noteAnswer(): void {
    this.#retries = 0
    if (this.#state.error !== null) this.#set({ error: null })
  }

  #noteFailure(error: ApiError): void {
    this.#set({ error })
    this.#later(error.retryAfterMs ?? Math.min(lastRetryMs, firstRetryMs * 2 ** this.#retries))
    this.#retries += 1
  }

  #later(milliseconds: number): void {
    if (this.#isClosed) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.retry(), milliseconds)
  }
}

/** The same request may be answered later: also when somebody has signed in again. */
function isPassing(error: unknown): boolean {
  return error instanceof ApiError && (error.isPassing || error.isSignedOut)
}

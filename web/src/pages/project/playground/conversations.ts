/**
 * The conversations of this tab and the answers that are under way. They outlive the pages: a user who looks at a trace
 * meanwhile comes back to an answer that has gone on.
 */
import { useSyncExternalStore } from "react"
import { ApiError } from "../../../api/api-error.ts"
import { streamCompletion } from "../../../api/chat/completions.ts"
import { AnswerCollector } from "../../../playground/answer-collector.ts"
import { completionBody, type Parameters } from "../../../playground/completion-body.ts"
import {
  promptBefore,
  type Conversation,
  type Failure,
  type SampledToken,
  type Turn,
  withColumn,
} from "../../../playground/conversation.ts"
import { settingsProblem } from "./problem.ts"
import { keepConversation, keptConversation } from "../../../playground/stored-conversations.ts"

const open = new Map<string, Conversation>()
const listeners = new Set<() => void>()

interface RunningAnswer {
  abort: AbortController
  /** Shows it as stopped, with its text so far. */
  showStopped: () => void
}

/** By conversation and column. An answer that is not in here any more shows nothing of what still comes. */
const running = new Map<string, RunningAnswer>()
const tooLarge = new Set<string>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** As it is by now; null: this tab has none of this id. */
export function conversationNow(id: string): Conversation | null {
  const known = open.get(id) ?? keptConversation(sessionStorage, id)
  if (known !== null) open.set(id, known)
  return known
}

export function useConversation(id: string): Conversation | null {
  return useSyncExternalStore(subscribe, () => conversationNow(id))
}

/** Whether a reload of the page would lose it. */
export function useIsTooLarge(id: string): boolean {
  return useSyncExternalStore(subscribe, () => tooLarge.has(id))
}

/** `isKept`: in the tab's storage, too; a small one that was not sent yet is in the address instead. */
export function setConversation(id: string, conversation: Conversation, isKept: boolean): void {
  open.set(id, conversation)
  if (isKept) keep(id, conversation)
  for (const listener of listeners) listener()
}

/** For what a server answers later: more may have been asked and answered since. */
export function changeConversation(id: string, changed: (now: Conversation) => Conversation): void {
  const now = conversationNow(id)
  if (now !== null) setConversation(id, changed(now), true)
}

function keep(id: string, conversation: Conversation): void {
  if (keepConversation(sessionStorage, id, conversation)) tooLarge.delete(id)
  else tooLarge.add(id)
}

function change(id: string, column: number, turns: (now: Turn[]) => Turn[], isKept: boolean): void {
  const conversation = open.get(id)
  const now = conversation?.columns[column]
  if (conversation === undefined || now === undefined) return
  setConversation(id, withColumn(conversation, column, turns(now.turns)), isKept)
}

interface Ask {
  projectId: string
  id: string
  column: number
  parameters: Parameters
  /** The answer begins so, and is gone on with. */
  begun?: { text: string; tokens: SampledToken[] }
}

/** No more often than this is an answer drawn again as it comes. */
const drawMs = 80

/** Asks the column's model to go on; what it says becomes the column's last turn. Nothing is thrown: a failure is in the turn. */
export async function ask({ projectId, id, column, parameters, begun }: Ask): Promise<void> {
  const conversation = open.get(id)
  const chosen = conversation?.columns[column]
  if (conversation === undefined || chosen === undefined) return
  const key = keyOf(id, column)
  // Its turns are as the question wants them: of an earlier answer nothing more is shown.
  running.get(key)?.abort.abort()
  running.delete(key)
  const { model, turns } = chosen
  const before = promptBefore(conversation, column, turns.length)
  const body = completionBody({
    projectId,
    conversationId: id,
    model,
    turns: begun === undefined ? before : [...before, { role: "assistant", text: begun.text }],
    tools: conversation.tools,
    schema: conversation.schema,
    parameters,
    isBegun: begun !== undefined,
  })
  const collector = new AnswerCollector(model, performance.now(), begun ?? null)
  const place = turns.length
  const put = (turn: Turn, isKept: boolean) => change(id, column, (now) => [...now.slice(0, place), turn], isKept)
  const own: RunningAnswer = {
    abort: new AbortController(),
    showStopped: () => put(collector.turn("stopped", performance.now()), true),
  }
  running.set(key, own)
  const show = (turn: Turn, isKept: boolean) => {
    // The user may have stopped it, asked something else meanwhile, or taken the column away: this is dropped then.
    if (running.get(key) === own) put(turn, isKept)
  }
  show(collector.turn("running", performance.now()), false)
  let drawnAt = 0
  try {
    const problem = settingsProblem(conversation, parameters)
    if (problem !== null) throw new ApiError(problem, { status: 400, code: "not_sent" })
    for await (const line of streamCompletion(body, own.abort.signal)) {
      const now = performance.now()
      if (line.error !== undefined) {
        return show(collector.turn("failed", now, failureOfLine(line.error, line.code, line.retry_after_ms)), true)
      }
      collector.add(line, now)
      if (now - drawnAt < drawMs) continue
      drawnAt = now
      show(collector.turn("running", now), false)
    }
    show(collector.turn("done", performance.now()), true)
  } catch (error) {
    show(collector.turn("failed", performance.now(), failureOf(error)), true)
  } finally {
    if (running.get(key) === own) running.delete(key)
  }
}

/** Stops an answer; the text so far stays. Nothing is shown later, when another model may stand in its place. */
export function stop(id: string, column: number): void {
  const key = keyOf(id, column)
  const answer = running.get(key)
  if (answer === undefined) return
  running.delete(key)
  answer.showStopped()
  answer.abort.abort()
}

const keyOf = (id: string, column: number) => `${id} ${column}`

function failureOfLine(message: string, code = "model_failed", retryAfterMs?: number): Failure {
  return { message, code, requestId: null, retryAt: retryAfterMs === undefined ? null : Date.now() + retryAfterMs }
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof ApiError)) return failureOfLine(error instanceof Error ? error.message : "unknown")
  const { message, code, requestId, retryAfterMs } = error
  return { message, code, requestId, retryAt: retryAfterMs === null ? null : Date.now() + retryAfterMs }
}

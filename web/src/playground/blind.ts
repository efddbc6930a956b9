/** A vote for one of several answers, whose models are hidden until it is given. */
import { type Answer, type Conversation, lastAnswer, type Verdict, withAnswer } from "./conversation.ts"

/** In which order the columns stand, so that nobody knows which is whose. `random` gives numbers from 0 to below 1. */
export function blindOrder(count: number, random: () => number): number[] {
  const order = Array.from({ length: count }, (_, index) => index)
  for (let last = count - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1))
    ;[order[last], order[other]] = [order[other] ?? 0, order[last] ?? 0]
  }
  return order
}

/** In which order so many columns stand: as it was drawn, if at all, and after those the ones that have come since. */
export function orderOf(count: number, drawn: readonly number[] = []): number[] {
  const there = drawn.filter((index) => index < count)
  return [...there, ...Array.from({ length: count }, (_, index) => index).filter((index) => !there.includes(index))]
}

/** Whether names are hidden: from a run that was asked for blind until somebody has voted on its answers. */
export function isHidden({ blind }: Pick<Conversation, "blind">): boolean {
  return blind?.isOpen === false
}

/** With the judgement of each newest answer, and names shown. null: there are not two whole answers that are recorded as they stand, or they are judged. */
export function withVerdicts(conversation: Conversation, winner: number | null): Conversation | null {
  const answers = conversation.columns.map(lastAnswer)
  const whole = answers.filter((turn) => turn !== null && isRecorded(turn.answer))
  if (whole.length < 2 || answers.some((turn) => turn?.answer.state === "running")) return null
  if (whole.some((turn) => turn?.answer.verdict !== undefined)) return null
  if (winner !== null && !whole.includes(answers[winner] ?? null)) return null
  const columns = conversation.columns.map((column, index) => {
    const turn = answers[index]
    if (turn == null || !whole.includes(turn)) return column
    const verdict: Verdict = winner === null ? "equal" : index === winner ? "better" : "worse"
    return { ...column, turns: [...column.turns.slice(0, -1), { ...turn, answer: { ...turn.answer, verdict } }] }
  })
  const order = conversation.blind?.order ?? columns.map((_, index) => index)
  return { ...conversation, columns, blind: { order, isOpen: true } }
}

/** The conversation as it is by now, with what was stored of the answers that `judged` ends with. */
export function withStoredVerdicts(now: Conversation, judged: Conversation): Conversation {
  const verdicts = new Map<string, Verdict>()
  for (const answer of judged.columns.map((column) => lastAnswer(column)?.answer)) {
    if (answer?.verdict !== undefined && answer.callId !== null) verdicts.set(answer.callId, answer.verdict)
  }
  const changed = [...verdicts].reduce((before, [callId, verdict]) => withAnswer(before, callId, { verdict }), now)
  // Answers that have come since keep their models to themselves.
  const isOpen = changed.columns.some((column) => verdicts.has(lastAnswer(column)?.answer.callId ?? ""))
  return isOpen && judged.blind !== undefined ? { ...changed, blind: judged.blind } : changed
}

/** Whole, and as the call holds it. */
function isRecorded({ state, callId, isCorrected }: Answer): boolean {
  return (state === "done" || state === "stopped") && callId !== null && isCorrected !== true
}

export interface StoredVote {
  callId: string
  payload: { value: Verdict; is_blind: boolean; over: string[]; under: string[]; equal: string[]; models: string[] }
}

/** Votes to store with each recorded call: how its answer was judged, and against which calls. */
export function votesOf({ columns }: Pick<Conversation, "columns">, isBlind: boolean): StoredVote[] {
  const judged = columns.flatMap((column) => {
    const answer = lastAnswer(column)?.answer
    if (answer?.verdict === undefined || answer.callId === null) return []
    return [{ callId: answer.callId, verdict: answer.verdict, model: answer.model }]
  })
  return judged.map(({ callId, verdict }) => {
    const others = judged.filter((other) => other.callId !== callId)
    const callsOf = (own: Verdict, their: Verdict) =>
      verdict === own ? others.filter((other) => other.verdict === their).map((other) => other.callId) : []
    return {
      callId,
      payload: {
        value: verdict,
        is_blind: isBlind,
        over: callsOf("better", "worse"),
        under: callsOf("worse", "better"),
        equal: callsOf("equal", "equal"),
        models: judged.map(({ model }) => model),
      },
    }
  })
}

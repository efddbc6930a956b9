/** An answer with what was asked, as JSON of a row of a dataset. */
import { wireMessage } from "./completion-body.ts"
import type { Turn } from "./conversation.ts"

/** Shape of a row: a dialogue for SFT jobs, or a question with the expected answer. */
export type RowShape = "dialogue" | "question"

interface RowSource {
  prompt: readonly Turn[]
  answer: Turn
  /** JSON of a list; empty for none. */
  tools: string
}

export function rowOf(shape: RowShape, { prompt, answer, tools }: RowSource): string {
  const messages = prompt.map(wireMessage)
  if (shape === "question") return JSON.stringify({ messages, expected: answer.text }, null, 2)
  const dialogue = JSON.stringify({ messages: [...messages, wireMessage(answer)] }, null, 2)
  // Tools stay as they were written.
  return tools.trim() === "" ? dialogue : `${dialogue.slice(0, -2)},\n  "tools": ${tools}\n}`
}

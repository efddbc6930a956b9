/** How quickly a model answered, and with how many tokens. */
import type { ReactNode } from "react"
import { formatDuration } from "../../../format/durations.ts"
import { formatExact, formatScore } from "../../../format/numbers.ts"
import { tokensPerSecond } from "../../../playground/answer-collector.ts"
import type { Answer } from "../../../playground/conversation.ts"
import styles from "./answer-figures.module.css"

export function AnswerFigures({ answer, isHidden }: { answer: Answer | null; isHidden: boolean }) {
  const speed = answer === null ? null : tokensPerSecond(answer)
  const shown = (text: string | null) => (isHidden ? "hidden" : (text ?? "–"))
  const count = answer === null ? null : (answer.usage?.output ?? answer.tokens.length)
  return (
    <dl className={styles.figures}>
      <Figure name="first token">
        {shown(answer?.firstTokenMs == null ? null : formatDuration(answer.firstTokenMs))}
      </Figure>
      <Figure name="tokens in">{shown(answer?.usage == null ? null : formatExact(answer.usage.input))}</Figure>
      <Figure name="tokens out">
        {shown(count === null || (count === 0 && answer?.usage == null) ? null : formatExact(count))}
      </Figure>
      <Figure name="tokens/s">{shown(speed === null ? null : formatScore(speed, 1))}</Figure>
    </dl>
  )
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** A model's answer: tokens by likelihood, words that differ from another answer, or plain text. */
import { type KeyboardEvent, useState } from "react"
import { classNames } from "../../../components/class-names.ts"
import { Button } from "../../../components/controls/button.tsx"
import { rampColors } from "../../../components/signs/heat.tsx"
import { Markdown } from "../../../components/text/markdown.tsx"
import { LongText } from "../../../components/text/long-text.tsx"
import { diffWords } from "../../../diff/word-diff.ts"
import { formatCount, formatP, formatScore, formatShare } from "../../../format/numbers.ts"
import type { SampledToken, Turn } from "../../../playground/conversation.ts"
import type { AnswerColor } from "./playground-search.ts"
import styles from "./answer-text.module.css"

/** More at once would stop the page. */
const mostTokens = 4_000
const longestMarkdown = 50_000

interface AnswerTextProps {
  turn: Turn
  color: AnswerColor
  /** The answer that this one is compared with, word by word; null: with none. */
  compared: string | null
  onFork: (token: number, other: string) => void
}

export function AnswerText({ turn: { text, answer }, color, compared, onFork }: AnswerTextProps) {
  const isRunning = answer?.state === "running"
  const tokens = answer?.tokens ?? []
  if (color === "surprise" && tokens.length > 0 && tokens.length <= mostTokens) {
    return <Tokens tokens={tokens} isRunning={isRunning} onFork={onFork} />
  }
  if (compared !== null && !isRunning) {
    return (
      <p className={styles.plain} dir="auto">
        {diffWords(compared, text).map(({ kind, text: part }, index) =>
          kind === "same" ? part : kind === "added" ? <ins key={index}>{part}</ins> : <del key={index}>{part}</del>,
        )}
      </p>
    )
  }
  if (isRunning) {
    return (
      <p className={styles.plain} dir="auto">
        {text}
        <span className={styles.caret} aria-hidden />
      </p>
    )
  }
  return text.length <= longestMarkdown ? <Markdown text={text} /> : <LongText text={text} />
}

interface TokensProps {
  tokens: readonly SampledToken[]
  isRunning: boolean
  onFork: AnswerTextProps["onFork"]
}

/** Arrow keys go from token to token; the selected one says what else could have been. */
function Tokens({ tokens, isRunning, onFork }: TokensProps) {
  const [selected, setSelected] = useState<number | null>(null)
  const press = (event: KeyboardEvent<HTMLElement>, from: number) => {
    if (event.key === "Escape") return setSelected(null)
    const places: Record<string, number> = {
      ArrowRight: from + 1,
      ArrowLeft: from - 1,
      Home: 0,
      End: tokens.length - 1,
    }
    const to = event.key === "Enter" || event.key === " " ? from : places[event.key]
    const token = to === undefined ? undefined : event.currentTarget.parentElement?.children[to]
    if (to === undefined || !(token instanceof HTMLElement)) return
    event.preventDefault()
    token.focus()
    setSelected(to)
  }
  const token = selected === null ? undefined : tokens[selected]
  return (
    <>
      <div role="group" aria-label="Tokens of the answer" className={styles.tokens} dir="auto">
        {tokens.map(({ text, logprob }, place) => (
          <span
            key={place}
            role="button"
            tabIndex={place === (selected ?? 0) ? 0 : -1}
            aria-pressed={place === selected}
            aria-label={`${text.trim() === "" ? "white space" : text}, probability ${formatShare(Math.exp(logprob))}`}
            className={classNames(styles.token, /^<\|.*\|>$/.test(text) && styles.sign)}
            style={{ background: rampColors("surprise", -logprob).ground }}
            onClick={() => setSelected(place === selected ? null : place)}
            onKeyDown={(event) => press(event, place)}
          >
            {text}
          </span>
        ))}
        {isRunning && <span className={styles.caret} aria-hidden />}
      </div>
      {token !== undefined && selected !== null && (
        <section className={styles.inspector} aria-label="Selected token" aria-live="polite">
          <p className={styles.tokenHead}>
            <code>{visible(token.text)}</code> token {formatCount(selected + 1)} of {formatCount(tokens.length)}, p{" "}
            {formatP(Math.exp(token.logprob))}, {formatScore(token.logprob, 3)}
          </p>
          <ul className={styles.others}>
            {token.top.map(({ text, logprob }) => (
              <li key={text}>
                <code>{visible(text)}</code>
                <span className={styles.bar} aria-hidden>
                  <i
                    className={text === token.text ? styles.own : undefined}
                    style={{ width: `${Math.max(1, Math.exp(logprob) * 100)}%` }}
                  />
                </span>
                <span className={styles.p}>{formatP(Math.exp(logprob))}</span>
                {text === token.text || isRunning ? (
                  <span className={styles.p}>{text === token.text ? "sampled" : ""}</span>
                ) : (
                  <Button
                    size="small"
                    kind="quiet"
                    title={`Keeps what stands before, puts “${visible(text)}” here, and lets the model go on`}
                    onClick={() => {
                      setSelected(null)
                      onFork(selected, text)
                    }}
                  >
                    Go on from it
                  </Button>
                )}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

/** White space is seen. */
function visible(text: string): string {
  return text === "" ? "nothing" : text.replaceAll(" ", "·").replaceAll("\n", "↵").replaceAll("\t", "→")
}

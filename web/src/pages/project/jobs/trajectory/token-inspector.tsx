/** All that is known of the selected token. */
import { KeyValue, KeyValues } from "../../../../components/layout/key-values.tsx"
import { formatChange, formatCount, formatScore } from "../../../../format/numbers.ts"
import { logprobWords, type OneToken, visibleText, weightWords } from "./token-values.ts"
import styles from "./token-inspector.module.css"

interface TokenInspectorProps {
  token: OneToken | null
  place: number
  count: number
}

export function TokenInspector({ token, place, count }: TokenInspectorProps) {
  return (
    <section className={styles.inspector} aria-label="Selected token" aria-live="polite">
      {token === null ? (
        <p className={styles.none}>Select a token to see its figures; the arrow keys go from one to the next.</p>
      ) : (
        <>
          <p className={styles.head}>
            Token {formatCount(place + 1)} of {formatCount(count)} <code>{visibleText(token.text)}</code>
          </p>
          <KeyValues>
            <KeyValue name="Id">{token.id}</KeyValue>
            <KeyValue name="Sampled at">{logprobWords(token.sampled)}</KeyValue>
            <KeyValue name="At its gradient step">{logprobWords(token.now)}</KeyValue>
            <KeyValue name="Ratio">
              {token.ratio === null ? "none" : formatScore(token.ratio, 3)}
              {token.isClipped && ", outside the clip range"}
            </KeyValue>
            <KeyValue name="Advantage over the job">
              {token.advantage === null ? "none" : formatChange(token.advantage)}
            </KeyValue>
            <KeyValue name="Weight">{weightWords(token.weight)}</KeyValue>
            <KeyValue name="Trained">{token.isTrained ? "yes" : "no"}</KeyValue>
          </KeyValues>
        </>
      )}
    </section>
  )
}

/** The tokens of a completion: coloured by one value, underlined where trained. Arrow keys go from token to token. */
import type { TrainedTokens } from "@heddle/server/wire/training/trained-trajectory.ts"
import { type KeyboardEvent, useState } from "react"
import { classNames } from "../../../../components/class-names.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { rampColors } from "../../../../components/signs/heat.tsx"
import { counted } from "../../../../format/counted.ts"
import { heatOf, type OneToken, tokenAt, tokenWords, visibleText } from "./token-values.ts"
import type { TokenHeat } from "./trajectory-search.ts"
import styles from "./token-text.module.css"

/** More at once would stop the page. */
const shownAtFirst = 2_000

interface TokenTextProps {
  label: string
  tokens: TrainedTokens
  sequence: { advantage: number; weight: number } | undefined
  heat: TokenHeat
  selected: number | null
  onSelect: (place: number) => void
}

export function TokenText({ label, tokens, sequence, heat, selected, onSelect }: TokenTextProps) {
  const [isWhole, setWhole] = useState(false)
  const count = tokens.token_ids.length
  const shown = isWhole ? count : Math.min(count, Math.max(shownAtFirst, (selected ?? 0) + 1))
  const press = (event: KeyboardEvent<HTMLElement>, from: number) => {
    const places: Record<string, number> = { ArrowRight: from + 1, ArrowLeft: from - 1, Home: 0, End: shown - 1 }
    const to = event.key === "Enter" || event.key === " " ? from : places[event.key]
    const token = to === undefined ? undefined : event.currentTarget.parentElement?.children[to]
    if (to === undefined || !(token instanceof HTMLElement)) return
    event.preventDefault()
    token.focus()
    onSelect(to)
  }
  return (
    <div className={styles.whole}>
      <div role="group" aria-label={label} className={styles.tokens} dir="auto">
        {Array.from({ length: shown }, (_, place) => {
          const token = tokenAt(tokens, place, sequence)
          const words = tokenWords(token, heat)
          return (
            <span
              key={place}
              role="button"
              tabIndex={place === (selected ?? 0) ? 0 : -1}
              aria-pressed={place === selected}
              aria-label={`${token.text.trim() === "" ? "white space" : token.text}, ${words}`}
              title={words}
              onClick={() => onSelect(place)}
              onKeyDown={(event) => press(event, place)}
              className={classNames(styles.token, token.isTrained ? styles.trained : styles.not)}
              style={{ background: groundOf(token, heat) }}
            >
              {visibleText(token.text)}
            </span>
          )
        })}
      </div>
      {shown < count && (
        <Button size="small" onClick={() => setWhole(true)}>
          Show {counted(count - shown, "more token")}
        </Button>
      )}
    </div>
  )
}

function groundOf(token: OneToken, heat: TokenHeat): string | undefined {
  if (heat === "trained") return token.isTrained ? "var(--accent-soft)" : undefined
  const value = heatOf(token, heat)
  return value === null ? undefined : rampColors(heat, value).ground
}

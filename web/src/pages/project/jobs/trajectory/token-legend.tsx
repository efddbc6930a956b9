/** Meaning of the tokens' colours, from end to end, and of the two signs that are no colour. */
import { Legend } from "./legend.tsx"
import type { TokenHeat } from "./trajectory-search.ts"
import styles from "./token-legend.module.css"

export function TokenLegend({ heat }: { heat: TokenHeat }) {
  return (
    <span className={styles.legend}>
      {heat === "surprise" && (
        <Legend ramp="surprise" values={[0, 0.6, 1.2, 1.8, 2.4, 3.1, 3.7]} low="p = 1" high="p ≤ 0.025" />
      )}
      {heat === "ratio" && (
        <Legend
          ramp="ratio"
          values={[-4, -3, -2, -1, 0, 1, 2, 3, 4].map((step) => 1.4 ** (step / 4))}
          low="÷ 1.4"
          high="× 1.4"
        />
      )}
      {heat === "advantage" && (
        <Legend
          ramp="advantage"
          values={[-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2]}
          low="−2, less likely"
          high="+2, likelier"
        />
      )}
      <span>
        <u className={styles.trained}>underlined</u>: trained
      </span>
    </span>
  )
}

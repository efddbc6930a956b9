/** A ramp from end to end, with what its ends mean. */
import { type Ramp, rampColors } from "../../../../components/signs/heat.tsx"
import styles from "./legend.module.css"

interface LegendProps {
  ramp: Ramp
  values: readonly number[]
  low: string
  high: string
}

export function Legend({ ramp, values, low, high }: LegendProps) {
  return (
    <span className={styles.legend}>
      {low}
      <span className={styles.ramp} aria-hidden>
        {values.map((value) => (
          <i key={value} style={{ background: rampColors(ramp, value).ground }} />
        ))}
      </span>
      {high}
    </span>
  )
}

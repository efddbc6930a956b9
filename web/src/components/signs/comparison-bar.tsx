/** How many rows are better, the same and worse: a bar with its three numbers. */
import { formatCount } from "../../format/numbers.ts"
import styles from "./comparison-bar.module.css"

interface ComparisonBarProps {
  better: number
  same: number
  worse: number
}

export function ComparisonBar({ better, same, worse }: ComparisonBarProps) {
  return (
    <span className={styles.comparison}>
      <span className={styles.bar} aria-hidden>
        <i className={styles.better} style={{ flexGrow: better }} />
        <i className={styles.same} style={{ flexGrow: same }} />
        <i className={styles.worse} style={{ flexGrow: worse }} />
      </span>
      {formatCount(better)} better, {formatCount(same)} same, {formatCount(worse)} worse
    </span>
  )
}

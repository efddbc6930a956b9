/** Something is connected and may change by itself. It needs a word beside it. */
import { classNames } from "../class-names.ts"
import styles from "./live-dot.module.css"

export function LiveDot({ kind = "good" }: { kind?: "good" | "accent" }) {
  return <span className={classNames(styles.dot, styles[kind])} aria-hidden />
}

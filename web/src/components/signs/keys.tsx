/** A shortcut as it is pressed: "g" "o", "⌘K". Hidden from screen readers, which read it in the sheet. */
import { shownKeys } from "../../keys/key-pattern.ts"
import styles from "./keys.module.css"

const isApple = navigator.userAgent.includes("Mac")

export function Keys({ of }: { of: string }) {
  return (
    <span className={styles.keys} aria-hidden>
      {shownKeys(of, isApple).map((key) => (
        <kbd key={key}>{key}</kbd>
      ))}
    </span>
  )
}

/** The mark: three warp threads, held by heddles, and a weft that goes through. */
import styles from "./mark.module.css"

export function Mark() {
  return (
    <svg className={styles.mark} width="20" height="20" viewBox="0 0 20 20" aria-hidden>
      <path d="M2 2.5h16M2 17.5h16M5 2.5v2.6M5 9.1v8.4M10 2.5v8.4M10 14.9v2.6M15 2.5v2.6M15 9.1v8.4" />
      <path className={styles.weft} d="M.5 10.6 5 7.1l5 5.8 5-5.8 4.5 3.5" />
      {[
        [5, 7.1],
        [10, 12.9],
        [15, 7.1],
      ].map(([x, y]) => (
        <circle key={x} cx={x} cy={y} r={2} />
      ))}
    </svg>
  )
}

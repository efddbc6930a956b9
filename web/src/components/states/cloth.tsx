/** A cloth that is begun: the one ornament, in empty states. */
import styles from "./cloth.module.css"

const warp = Array.from({ length: 8 }, (_, index) => 8 + index * 10)

export function Cloth() {
  return (
    <svg className={styles.cloth} width="84" height="72" viewBox="0 0 84 72" aria-hidden>
      {warp.map((x) => (
        <path key={x} className={styles.warp} d={`M${x} 4V68`} />
      ))}
      {[18, 30].map((y, row) => (
        <path
          key={y}
          className={styles.weft}
          d={warp.map((x, column) => thread(x - 5, y, (column + row) % 2 === 1)).join("")}
        />
      ))}
      <path className={styles.weft} strokeDasharray="3 3" d="M3 42h24" />
    </svg>
  )
}

/** Over a warp thread it is seen, under it there is a gap. */
function thread(x: number, y: number, isOver: boolean): string {
  return isOver ? `M${x} ${y}h10` : `M${x} ${y}h2.5m5 0h2.5`
}

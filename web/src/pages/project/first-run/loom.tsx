/** Warp threads held by heddles, and a weft that goes through with the first call. With the mark, the one place for it. */
import { classNames } from "../../../components/class-names.ts"
import styles from "./loom.module.css"

const width = 404
const height = 214
const bottom = height - 34
const threads = Array.from({ length: 17 }, (_, index) => ({ x: 34 + index * 21, y: index % 2 === 1 ? 110 : 86 }))

const weft = [`M-4 98`, ...threads.map(({ x, y }) => `Q${x - 10} 98 ${x} ${y}`), `L${width + 4} 100`].join(" ")

export function Loom({ hasThread }: { hasThread: boolean }) {
  return (
    <svg className={styles.loom} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="xMidYMin slice" aria-hidden>
      <path className={styles.beam} d={`M20 22H${width - 20}M20 ${bottom}H${width - 20}`} />
      {threads.map(({ x, y }) => (
        <g key={x}>
          <path className={styles.warp} d={`M${x} 22V${y - 6}M${x} ${y + 6}V${bottom}`} />
          <ellipse className={styles.heddle} cx={x} cy={y} rx={3} ry={6} />
        </g>
      ))}
      {!hasThread && <path className={styles.waiting} d="M-4 98Q14 98 26 92" />}
      <path className={classNames(styles.weft, hasThread && styles.drawn)} pathLength={1} d={weft} />
    </svg>
  )
}

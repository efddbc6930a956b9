/** The shape of what comes. It shows only after a moment, so that a quick answer does not flicker. */
import { ForReaders } from "../text/for-readers.tsx"
import { useDelayed } from "./use-delayed.ts"
import styles from "./skeleton.module.css"

/** Differ so that they read as text. */
const widths = [62, 88, 74, 95, 50, 81]

interface SkeletonProps {
  /** What is being read, for screen readers: "Reading calls". */
  what: string
  rows?: number
}

export function SkeletonRows({ what, rows = 6 }: SkeletonProps) {
  const isShown = useDelayed()
  return (
    <div className={styles.rows} role="status">
      {isShown && (
        <>
          <ForReaders>{what}…</ForReaders>
          {Array.from({ length: rows }, (_, row) => (
            <div key={row} className={styles.row} aria-hidden>
              <i />
              <i style={{ width: `${widths[row % widths.length]}%` }} />
              <i />
            </div>
          ))}
        </>
      )}
    </div>
  )
}

/** In the place of a figure or a chart; `height` keeps what is below where it is. */
export function SkeletonBlock({ what, height }: { what: string; height: number }) {
  const isShown = useDelayed()
  return (
    <div role="status" style={{ height }} className={isShown ? styles.block : undefined}>
      {isShown && <ForReaders>{what}…</ForReaders>}
    </div>
  )
}

/** How a distribution moves: a column for each step that was read, darker where more of its values lie. */
import { useMemo } from "react"
import { formatNumber } from "../../../../format/numbers.ts"
import { histogramSteps } from "./histogram-steps.ts"
import styles from "./histogram-steps-view.module.css"
import type { LoggedHistogram } from "./logged-media.ts"

const rows = 48

interface HistogramStepsViewProps {
  label: string
  steps: readonly { step: number; histogram: LoggedHistogram }[]
  /** The step whose bars are shown. */
  shown: number
}

export function HistogramStepsView({ label, steps, shown }: HistogramStepsViewProps) {
  const drawn = useMemo(() => {
    const moved = histogramSteps(
      steps.map(({ histogram }) => histogram),
      rows,
    )
    return moved === null ? null : { ...moved, mask: maskOf(moved.shares) }
  }, [steps])
  if (drawn === null) return null
  const place = steps.findIndex(({ step }) => step === shown)
  const [first, last] = [steps[0]?.step, steps.at(-1)?.step]
  const [low, high] = [formatNumber(drawn.low), formatNumber(drawn.high)]
  return (
    <div className={styles.steps}>
      <span className={styles.high}>{high}</span>
      <span className={styles.low}>{low}</span>
      <div
        className={styles.map}
        role="img"
        aria-label={`${label}: values from ${low} to ${high} over steps ${first} to ${last}`}
      >
        <div className={styles.ink} style={{ maskImage: `url(${drawn.mask})` }} />
        <i className={styles.shown} style={{ left: `${((place + 0.5) / steps.length) * 100}%` }} />
      </div>
      <span className={styles.first}>step {first}</span>
      <span className={styles.last}>{last}</span>
    </div>
  )
}

/** As a picture whose opacity is the share: the colour is the theme's. */
function maskOf(shares: readonly (readonly number[])[]): string {
  const canvas = document.createElement("canvas")
  canvas.width = shares.length
  canvas.height = rows
  const context = canvas.getContext("2d")
  for (const [column, share] of shares.entries()) {
    for (const [row, part] of share.entries()) {
      if (context === null || part === 0) continue
      // Few values are seen too.
      context.fillStyle = `rgb(0 0 0 / ${Math.sqrt(part)})`
      context.fillRect(column, rows - 1 - row, 1, 1)
    }
  }
  return canvas.toDataURL()
}

/** How much of something is done or used. It moves only by real progress. */
import styles from "./meter.module.css"

/** `share` is from 0 to 1; null: how much there is to do is not known yet. */
export function Meter({ share, label }: { share: number | null; label: string }) {
  const percent = share === null ? null : Math.round(Math.min(1, Math.max(0, share)) * 100)
  return (
    <span
      className={styles.meter}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent ?? undefined}
    >
      <i style={{ transform: `scaleX(${(percent ?? 0) / 100})` }} />
    </span>
  )
}

/** Controls that every page of curves has: the horizontal axis, smoothing, and the way back from a part to the whole. */
import { Button } from "../../../components/controls/button.tsx"
import { Segmented } from "../../../components/controls/segmented.tsx"
import { formatScore } from "../../../format/numbers.ts"
import styles from "./axis-tools.module.css"

interface AxisSearch {
  x?: "step" | "time" | undefined
  smooth?: number | undefined
  x0?: number | undefined
  x1?: number | undefined
}

interface AxisToolsProps {
  search: AxisSearch
  onChange: (changes: AxisSearch) => void
  /** Whether curves have axes of their own, which they then stand over at first. */
  hasOwnAxes?: boolean
}

export function AxisTools({ search: { x, smooth = 0 }, onChange, hasOwnAxes = false }: AxisToolsProps) {
  const first = hasOwnAxes ? "own" : "step"
  return (
    <>
      <Segmented
        label="Horizontal axis"
        value={x ?? first}
        segments={[
          ...(hasOwnAxes ? [{ value: "own" as const, label: "As defined" }] : []),
          { value: "step", label: "Step" },
          { value: "time", label: "Time" },
        ]}
        // The part that is shown is one of the other axis.
        onChange={(next) =>
          onChange({ x: next === first || next === "own" ? undefined : next, x0: undefined, x1: undefined })
        }
      />
      <label className={styles.smooth}>
        Smoothing
        <input
          type="range"
          min={0}
          max={0.95}
          step={0.05}
          value={smooth}
          onChange={({ target }) => onChange({ smooth: Number(target.value) || undefined })}
        />
        <output>{formatScore(smooth)}</output>
      </label>
    </>
  )
}

interface ZoomHintProps extends Omit<AxisToolsProps, "hasOwnAxes"> {
  /** While nothing is enlarged. */
  words?: string
}

export function ZoomHint({ search: { x0 }, onChange, words = "drag to zoom" }: ZoomHintProps) {
  return (
    <span className={styles.hint}>
      {x0 === undefined ? (
        words
      ) : (
        <Button size="small" onClick={() => onChange({ x0: undefined, x1: undefined })}>
          Show all
        </Button>
      )}
    </span>
  )
}

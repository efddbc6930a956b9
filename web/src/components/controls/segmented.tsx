/** Two to five views of the same thing, one of them shown. */
import type { ReactNode } from "react"
import { classNames } from "../class-names.ts"
import styles from "./segmented.module.css"

export interface Segment<Value extends string> {
  value: Value
  label: ReactNode
}

interface SegmentedProps<Value extends string> {
  label: string
  value: Value
  segments: readonly Segment<Value>[]
  onChange: (value: Value) => void
  size?: "normal" | "small"
}

export function Segmented<Value extends string>({ label, value, segments, onChange, size }: SegmentedProps<Value>) {
  return (
    <span role="group" aria-label={label} className={classNames(styles.segmented, size === "small" && styles.small)}>
      {segments.map((segment) => (
        <button
          key={segment.value}
          type="button"
          aria-pressed={segment.value === value}
          onClick={() => onChange(segment.value)}
        >
          {segment.label}
        </button>
      ))}
    </span>
  )
}

/** Two panes beside each other with an edge that can be moved; below the other on a narrow screen. */
import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef, useState } from "react"
import { putText } from "../../kept/put-text.ts"
import styles from "./split.module.css"

interface SplitProps {
  /** Which edge it is, for readers: "Width of the list". */
  label: string
  first: ReactNode
  second: ReactNode
  /** Width of the first pane in per cent, when nobody has moved the edge. */
  start?: number
  /** Remembers where the edge was put, in this browser. */
  name: string
}

const least = 15
const most = 85
const keyStep = 2

export function Split({ label, first, second, start = 50, name }: SplitProps) {
  const key = `heddle.split.${name}`
  const [percent, setPercent] = useState(() => within(Number(localStorage.getItem(key)) || start))
  const box = useRef<HTMLDivElement>(null)

  const move = (wanted: number) => {
    const next = within(wanted)
    setPercent(next)
    putText(localStorage, key, String(next))
  }
  const drag = (event: PointerEvent) => {
    const bounds = box.current?.getBoundingClientRect()
    if (bounds === undefined || !event.currentTarget.hasPointerCapture(event.pointerId)) return
    move(((event.clientX - bounds.left) / bounds.width) * 100)
  }
  const press = (event: KeyboardEvent) => {
    const step = { ArrowLeft: -keyStep, ArrowRight: keyStep }[event.key]
    if (step === undefined) return
    event.preventDefault()
    move(percent + step)
  }

  return (
    <div ref={box} className={styles.split}>
      <div className={styles.pane} style={{ flexBasis: `${percent}%` }}>
        {first}
      </div>
      <div
        role="separator"
        aria-label={label}
        aria-orientation="vertical"
        aria-valuenow={Math.round(percent)}
        aria-valuemin={least}
        aria-valuemax={most}
        tabIndex={0}
        className={styles.edge}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={drag}
        onDoubleClick={() => move(start)}
        onKeyDown={press}
      />
      <div className={styles.pane} style={{ flexBasis: `${100 - percent}%` }}>
        {second}
      </div>
    </div>
  )
}

function within(percent: number): number {
  return Math.min(most, Math.max(least, percent))
}

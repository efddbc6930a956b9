/** The whole trace on one strip: where calls are, where they failed, and which part of the time is shown. */
import { type PointerEvent, useEffect, useRef } from "react"
import { spanDuration, type TraceTree } from "../../../calls/trace-tree.ts"
import { colorOf } from "../../../components/charts/chart-colors.ts"
import { formatDuration } from "../../../format/durations.ts"
import { formatExact } from "../../../format/numbers.ts"
import { useTheme } from "../../../theme/theme.ts"
import { kindSigns } from "./kind-signs.ts"
import styles from "./minimap.module.css"
import { lanesOf } from "./minimap-lanes.ts"
import type { TimeWindow } from "./time-bars.ts"

interface MinimapProps {
  tree: TraceTree
  window: TimeWindow
  onWindow: (window: TimeWindow) => void
}

const height = 56
const top = 7
/** A press shows so much of the trace around it, where the whole of it was shown. */
const pressedShare = 0.1

export function Minimap({ tree, window, onWindow }: MinimapProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const theme = useTheme()
  // The canvas: every call is drawn once for each reading of the trace.
  useEffect(() => {
    const element = canvas.current
    if (element === null) return
    // Its colours are computed, and another theme has others.
    element.dataset["drawnFor"] = theme
    // It tells the size at once, too, so nothing is drawn twice.
    const observer = new ResizeObserver(() => draw(element, tree))
    observer.observe(element)
    return () => observer.disconnect()
  }, [tree, theme])

  const whole = Math.max(tree.durationMs, 1e-3)
  const left = Math.max(0, (window.from / whole) * 100)
  const right = Math.min(100, (window.to / whole) * 100)
  const move = (event: PointerEvent) => {
    if (event.type === "pointermove" && !event.currentTarget.hasPointerCapture(event.pointerId)) return
    const bounds = event.currentTarget.getBoundingClientRect()
    const time = ((event.clientX - bounds.left) / bounds.width) * whole
    const isWhole = window.to - window.from >= whole
    const length = isWhole ? whole * pressedShare : window.to - window.from
    const from = Math.round(Math.min(Math.max(0, time - length / 2), whole - length) * 1000) / 1000
    onWindow({ from, to: Math.round((from + length) * 1000) / 1000 })
  }
  const label = `All calls over ${formatDuration(tree.durationMs)}, ${formatExact(tree.failed.length)} failed`
  return (
    <div
      className={styles.map}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        move(event)
      }}
      onPointerMove={move}
    >
      <canvas ref={canvas} className={styles.canvas} role="img" aria-label={label} />
      {right - left < 99.9 && (
        <i className={styles.window} style={{ left: `${left}%`, width: `${Math.max(0.3, right - left)}%` }} />
      )}
    </div>
  )
}

function draw(canvas: HTMLCanvasElement, tree: TraceTree): void {
  const ratio = devicePixelRatio
  const width = canvas.clientWidth
  canvas.width = width * ratio
  canvas.height = height * ratio
  const context = canvas.getContext("2d")
  if (context === null) return
  context.scale(ratio, ratio)
  const kinds = Object.fromEntries(Object.entries(kindSigns).map(([kind, { color }]) => [kind, colorOf(color)]))
  const { laneOf, lanes } = lanesOf(tree)
  const laneHeight = Math.min(10, (height - top - 4) / lanes)
  const scale = width / Math.max(tree.durationMs, 1e-3)
  context.globalAlpha = 0.8
  // A colour is read anew each time that it is set, so the calls of a kind come one after the other.
  const byKind = Object.groupBy(tree.spans, ({ kind }) => kind)
  for (const [kind, spans] of Object.entries(byKind)) {
    context.fillStyle = kinds[kind] ?? ""
    for (const span of spans) {
      const length = Math.max(0.7, spanDuration(tree, span) * scale)
      const lane = laneOf[span.index] ?? 0
      context.fillRect(span.start * scale, top + lane * laneHeight, length, Math.max(1, laneHeight - 1))
    }
  }
  context.globalAlpha = 1
  context.fillStyle = colorOf("bad")
  for (const index of tree.failed) {
    const x = (tree.spans[index]?.start ?? 0) * scale
    context.beginPath()
    context.moveTo(x - 3, 0)
    context.lineTo(x + 3, 0)
    context.lineTo(x, 5)
    context.fill()
  }
}

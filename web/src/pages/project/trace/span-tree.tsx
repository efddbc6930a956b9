/** The calls of a trace as a tree with bars of time beside it. Only the rows that are seen are drawn. */
import { useVirtualizer } from "@tanstack/react-virtual"
import { ChevronDown, ChevronRight, CircleX, Layers, Loader } from "lucide-react"
import { type KeyboardEvent, useEffect, useEffectEvent, useId, useRef } from "react"
import type { GroupRow, TreeRow } from "../../../calls/trace-rows.ts"
import { type Span, spanDuration, type TraceTree } from "../../../calls/trace-tree.ts"
import { classNames } from "../../../components/class-names.ts"
import { Icon } from "../../../components/signs/icon.tsx"
import { nounOf } from "../../../format/counted.ts"
import { formatDuration, formatDurationTick } from "../../../format/durations.ts"
import { formatExact } from "../../../format/numbers.ts"
import { kindSigns } from "./kind-signs.ts"
import styles from "./span-tree.module.css"
import { barOf, ticksOf, type TimeWindow } from "./time-bars.ts"

interface SpanTreeProps {
  tree: TraceTree
  rows: readonly TreeRow[]
  window: TimeWindow
  selected: number | null
  rowHeight: number
  onSelect: (index: number) => void
  /** Opens or closes a call, or a group. */
  onToggle: (row: TreeRow) => void
}

const indent = 16

export function SpanTree({ tree, rows, window, selected, rowHeight, onSelect, onToggle }: SpanTreeProps) {
  "use no memo"
  const box = useRef<HTMLDivElement>(null)
  const id = useId()
  // oxlint-disable-next-line react/incompatible-library -- the directive above says so to the compiler
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  })
  const at = rows.findIndex((row) => row.kind === "span" && row.span.index === selected)
  const reveal = useEffectEvent(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: "auto" })
  })
  // The place of the scrolling: what was jumped to must be seen.
  useEffect(() => reveal(), [selected])

  const select = (index: number) => {
    const step = index < at ? -1 : 1
    for (let next = index; next >= 0 && next < rows.length; next += step) {
      const row = rows[next]
      if (row?.kind === "span") return onSelect(row.span.index)
    }
  }
  const press = (event: KeyboardEvent) => {
    const row = rows[at]
    if (row === undefined) return
    const hasInside = row.kind === "span" && row.span.children.length > 0
    const moves: Record<string, () => void> = {
      ArrowDown: () => select(at + 1),
      ArrowUp: () => select(at - 1),
      Home: () => select(0),
      End: () => select(rows.length - 1),
      ArrowRight: () => (hasInside && !row.isOpen ? onToggle(row) : select(at + 1)),
      ArrowLeft: () => {
        if (hasInside && row.isOpen) onToggle(row)
        else if (row.kind === "span" && row.span.parent !== null) onSelect(row.span.parent)
      },
    }
    const move = moves[event.key]
    if (move === undefined || event.altKey) return
    event.preventDefault()
    move()
  }

  return (
    <div className={styles.around}>
      <div className={styles.axis} aria-hidden>
        <span className={styles.axisNote}>
          {formatExact(rows.length)} {nounOf(rows.length, "row")} of {formatExact(tree.spans.length)}{" "}
          {nounOf(tree.spans.length, "call")}
        </span>
        <span className={styles.axisTicks}>
          {ticksOf(window).map((time) => (
            <span key={time} style={{ left: `${((time - window.from) / (window.to - window.from)) * 100}%` }}>
              {formatDurationTick(time)}
            </span>
          ))}
        </span>
      </div>
      <div
        ref={box}
        className={styles.scroll}
        role="tree"
        aria-label="Calls of the trace"
        tabIndex={0}
        aria-activedescendant={at >= 0 ? `${id}-${at}` : undefined}
        onKeyDown={press}
      >
        <div className={styles.rows} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const row = rows[index]
            if (row === undefined) return null
            const isSelected = index === at
            return (
              // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the tree has the focus and the keys
              <div
                key={index}
                id={`${id}-${index}`}
                role="treeitem"
                aria-level={row.depth + 1}
                aria-expanded={row.kind === "group" || row.span.children.length > 0 ? row.isOpen : undefined}
                aria-selected={isSelected}
                className={classNames(styles.row, isSelected && styles.selected)}
                style={{ transform: `translateY(${start}px)`, height: rowHeight }}
                onClick={() => (row.kind === "span" ? onSelect(row.span.index) : onToggle(row))}
                onDoubleClick={() => row.kind === "span" && onToggle(row)}
              >
                <span className={styles.name} style={{ paddingLeft: 6 + row.depth * indent }}>
                  <Guides depth={row.depth} />
                  <Arrow row={row} onToggle={onToggle} />
                  {row.kind === "span" ? <SpanName span={row.span} isOpen={row.isOpen} /> : <GroupName row={row} />}
                </span>
                <span className={styles.time}>
                  {row.kind === "span" ? (
                    <Bar tree={tree} span={row.span} window={window} isSelected={isSelected} />
                  ) : (
                    <GroupBar row={row} window={window} />
                  )}
                </span>
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}

function Guides({ depth }: { depth: number }) {
  return Array.from({ length: depth }, (_, level) => (
    <i key={level} className={styles.guide} style={{ left: 13 + level * indent }} aria-hidden />
  ))
}

function Arrow({ row, onToggle }: { row: TreeRow; onToggle: (row: TreeRow) => void }) {
  if (row.kind === "span" && row.span.children.length === 0) return <span className={styles.arrow} />
  return (
    // The keys of the tree do the same; a second stop for each row would be in the way.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions -- see above
    <span
      className={styles.arrow}
      onClick={(event) => {
        event.stopPropagation()
        onToggle(row)
      }}
    >
      <Icon of={row.isOpen ? ChevronDown : ChevronRight} size={12} />
    </span>
  )
}

function SpanName({ span, isOpen }: { span: Span; isOpen: boolean }) {
  const { icon, color, name } = kindSigns[span.kind]
  return (
    <>
      <span style={{ color: `var(--${color})` }} title={name} className={styles.kind}>
        <Icon of={icon} size={14} />
      </span>
      <span className={styles.label} title={span.name}>
        {span.name}
      </span>
      {span.isOrphan && <span className={styles.note}>its parent is not here</span>}
      {span.isFailed && (
        <span className={styles.failed}>
          <Icon of={CircleX} size={12} name="failed" />
        </span>
      )}
      {!isOpen && span.failedInside > 0 && (
        <span
          className={styles.failedInside}
          title={`${formatExact(span.failedInside)} ${nounOf(span.failedInside, "call")} inside failed`}
        >
          <Icon of={CircleX} size={12} name="failed inside:" /> {formatExact(span.failedInside)}
        </span>
      )}
      {span.end === null && (
        <span className={styles.running}>
          <Icon of={Loader} size={12} name="running" />
        </span>
      )}
    </>
  )
}

function GroupName({ row: { name, count, failed } }: { row: GroupRow }) {
  return (
    <>
      <Icon of={Layers} size={14} className={styles.note} />
      <span className={styles.groupLabel}>{name}</span>
      <span className={styles.times}>×{formatExact(count)}</span>
      {failed > 0 && (
        <span className={styles.failedInside}>
          <Icon of={CircleX} size={12} name="failed:" /> {formatExact(failed)}
        </span>
      )}
    </>
  )
}

interface BarProps {
  tree: TraceTree
  span: Span
  window: TimeWindow
  isSelected: boolean
}

function Bar({ tree, span, window, isSelected }: BarProps) {
  const length = formatDuration(spanDuration(tree, span))
  const bar = barOf(span.start, span.start + spanDuration(tree, span), window)
  if (bar.side !== "inside") {
    return (
      <span className={bar.side === "before" ? styles.before : styles.after}>
        {bar.side === "before" ? `← ${length}` : `${length} →`}
      </span>
    )
  }
  const right = bar.left + bar.width
  // Beside the bar where there is room, else on its end.
  const place = right < 80 ? { left: `${right}%` } : bar.left > 20 ? { right: `${100 - bar.left}%` } : { right: 0 }
  return (
    <>
      <i
        className={classNames(styles.bar, span.end === null && styles.open)}
        style={{
          left: `${bar.left}%`,
          width: `${bar.width}%`,
          background: span.isFailed ? "var(--bad)" : `var(--${kindSigns[span.kind].color})`,
          opacity: isSelected ? 1 : 0.75,
        }}
      />
      <span className={classNames(styles.length, "right" in place && place.right === 0 && styles.onBar)} style={place}>
        {length}
      </span>
    </>
  )
}

function GroupBar({ row, window }: { row: GroupRow; window: TimeWindow }) {
  const bar = barOf(row.start, row.end, window)
  return (
    <>
      {bar.side === "inside" && (
        <i className={styles.groupBar} style={{ left: `${bar.left}%`, width: `${bar.width}%` }} />
      )}
      <span className={styles.median}>p50 {formatDuration(row.medianMs)}</span>
    </>
  )
}

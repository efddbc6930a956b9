import { type RefObject, useLayoutEffect, useRef } from "react"

/** So far a row is looked for that other rows have moved. */
const farthestMove = 500

interface AnchoredRows {
  count: number
  rowHeight: number
  idAt: (index: number) => string | undefined
  /** Pixels that are scrolled. Asking the browser would make it lay out the page once more for each drawing. */
  topOf: () => number
}

/** Rows that come in above what is read move it no further: the row at the top of the view stays there. */
export function useScrollAnchor(box: RefObject<HTMLDivElement | null>, rows: AnchoredRows): void {
  "use no memo"
  const { count, rowHeight, idAt, topOf } = rows
  const anchor = useRef<{ id: string; index: number } | null>(null)
  // The rows that came, before they are shown.
  useLayoutEffect(() => {
    let top = topOf()
    const before = anchor.current
    if (before !== null && idAt(before.index) !== undefined && idAt(before.index) !== before.id) {
      const last = Math.min(count, before.index + farthestMove)
      for (let index = before.index; index < last; index += 1) {
        if (idAt(index) !== before.id) continue
        top += (index - before.index) * rowHeight
        // oxlint-disable-next-line react/immutability -- where the element is scrolled to is no state of React
        if (box.current !== null) box.current.scrollTop = top
        break
      }
    }
    const index = Math.floor(top / rowHeight)
    const id = idAt(index)
    anchor.current = id === undefined || top === 0 ? null : { id, index }
  })
}

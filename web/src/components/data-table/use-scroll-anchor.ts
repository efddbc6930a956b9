import { type RefObject, useLayoutEffect, useRef } from "react"

/** So far a row is looked for that other rows have moved. */
const farthestMove = 500

interface AnchoredRows {
  count: number
  rowHeight: number
  idAt: (index: number) => string | undefined
}

/** Rows that come in above what is read move it no further: the row at the top of the view stays there. */
export function useScrollAnchor(box: RefObject<HTMLDivElement | null>, { count, rowHeight, idAt }: AnchoredRows): void {
  "use no memo"
  const anchor = useRef<{ id: string; index: number } | null>(null)
  // The place of the scrolling, which only the browser knows.
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const remember = () => {
      const index = Math.floor(element.scrollTop / rowHeight)
      const id = idAt(index)
      anchor.current = id === undefined || element.scrollTop === 0 ? null : { id, index }
    }
    const before = anchor.current
    if (before !== null && idAt(before.index) !== undefined && idAt(before.index) !== before.id) {
      const last = Math.min(count, before.index + farthestMove)
      for (let index = before.index; index < last; index += 1) {
        if (idAt(index) !== before.id) continue
        // oxlint-disable-next-line react/immutability -- where the element is scrolled to is no state of React
        element.scrollTop += (index - before.index) * rowHeight
        break
      }
    }
    remember()
    element.addEventListener("scroll", remember, { passive: true })
    return () => element.removeEventListener("scroll", remember)
  })
}

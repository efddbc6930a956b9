/** The values under the cursor of a chart, in a corner where no line is hidden by them; below each other where they are long. */
import type uPlot from "uplot"
import { formatMoment } from "../../format/times.ts"
import type { PlotHandlers, PlotShape } from "./plot-options.ts"

/** So far from the cursor, in pixels, a point is still pointed at: each line has points at places of its own. */
const reach = 6

export function showReadout(plot: uPlot, readout: HTMLElement, shape: PlotShape, handlers: PlotHandlers): void {
  const { looks, isTime } = shape
  const index = plot.cursor.idx
  const x = index == null ? undefined : plot.data[0][index]
  readout.hidden = x === undefined || index == null
  if (x === undefined || index == null) return
  const hasOneLine = looks.filter(({ isFaint }) => !isFaint).length === 1
  const entries = looks.flatMap((look, place) => {
    // Of several lines each says its own value: those behind them would be too much to read.
    if (look.isFaint && !hasOneLine) return []
    const value = pointedAt(plot, plot.data[place + 1] ?? [], index)
    return value === null ? [] : { look, name: looks.length > 1 ? look.name : "", value: handlers.showY(value) }
  })
  // Between two steps there is no label: then it is that of the next.
  const at = isTime ? formatMoment(new Date(x)) : handlers.showX(x) || handlers.showX(Math.round(x))
  readout.textContent = [at, ...entries.map(({ name, value }) => `${name} ${value}`.trim())].join(" · ")
  const isList = !hasOneLine && readout.offsetWidth > plot.over.clientWidth
  // Charts that share the cursor show a short text too; lists would hide all of them.
  readout.hidden = isList && !plot.over.matches(":hover")
  if (isList) readout.replaceChildren(at, ...entries.map(({ look, name, value }) => lineOf(look, `${value} ${name}`)))
  // A list reaches down to where the cursor is: it stands on the other side.
  const isCursorRight = (plot.cursor.left ?? 0) > plot.over.clientWidth / 2
  readout.classList.toggle("heddle-readout-left", isList && isCursorRight)
}

/** The value of a line at the cursor, or at its nearest point beside it; null: there is none. */
function pointedAt(plot: uPlot, line: ArrayLike<number | null | undefined>, index: number): number | null {
  const places = plot.data[0]
  const positionOf = (at: number) => plot.valToPos(places[at] ?? NaN, "x")
  const here = positionOf(index)
  for (let far = 0; ; far += 1) {
    const near = [index - far, index + far].filter((at) => Math.abs(positionOf(at) - here) <= reach)
    if (near.length === 0) return null
    const found = near.map((at) => line[at]).find((value) => value != null)
    if (found != null) return found
  }
}

/** The value stands first: a long name is cut at its end. */
function lineOf({ color, isDashed }: PlotShape["looks"][number], words: string): HTMLElement {
  const line = document.createElement("div")
  const mark = document.createElement("i")
  mark.style.borderTopColor = `var(--${color})`
  mark.style.borderTopStyle = isDashed ? "dashed" : "solid"
  line.append(mark, words)
  return line
}

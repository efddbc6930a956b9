/** The part of a trace that is in its address. */
import { searchChoice, searchKeys, searchNumber, searchSwitch, searchText } from "../../../url/search.ts"

export const traceTabs = ["chat", "both", "input", "output", "feedback", "details", "code"] as const
export type TraceTab = (typeof traceTabs)[number]

export const traceSearch = searchKeys({
  /** The selected call; by default the outermost one. */
  span: searchText,
  tab: searchChoice(traceTabs),
  /** The window of the timeline, in milliseconds from the begin of the trace. */
  t0: searchNumber,
  t1: searchNumber,
  /** Repeated siblings are shown one by one. */
  unfold: searchSwitch,
})

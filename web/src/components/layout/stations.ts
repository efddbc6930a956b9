/** The stations of the loop, always the same six in the same order. */
import { FlaskConical, Highlighter, ListTree, type LucideIcon, RotateCcw, Spline, Zap } from "lucide-react"

export type Station = "train" | "serve" | "trace" | "evaluate" | "label" | "again"

export const stations: Record<Station, { icon: LucideIcon; name: string }> = {
  train: { icon: Zap, name: "Train" },
  serve: { icon: Spline, name: "Serve" },
  trace: { icon: ListTree, name: "Trace" },
  evaluate: { icon: FlaskConical, name: "Evaluate" },
  label: { icon: Highlighter, name: "Label" },
  again: { icon: RotateCcw, name: "Train again" },
}

/** The sign and the colour of each kind of call. */
import { BookOpen, Bot, type LucideIcon, MessageSquare, Scale, SquareFunction, Waypoints, Wrench } from "lucide-react"
import type { ColorToken } from "../../../components/charts/chart-colors.ts"
import type { CallKind } from "../../../calls/call-kind.ts"

export const kindSigns: Record<CallKind, { icon: LucideIcon; color: ColorToken; name: string }> = {
  llm: { icon: MessageSquare, color: "series-1", name: "model" },
  tool: { icon: Wrench, color: "series-2", name: "tool" },
  retrieval: { icon: BookOpen, color: "series-3", name: "retrieval" },
  scorer: { icon: Scale, color: "series-4", name: "scorer" },
  embedding: { icon: Waypoints, color: "series-5", name: "embedding" },
  agent: { icon: Bot, color: "series-6", name: "agent" },
  function: { icon: SquareFunction, color: "series-0", name: "function" },
}

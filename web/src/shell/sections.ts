/** The sections of a project: the order of the navigation, their icons, and the second key after `g`. */
import {
  Database,
  FlaskConical,
  Highlighter,
  LayoutDashboard,
  ListTree,
  type LucideIcon,
  MessageSquare,
  Spline,
} from "lucide-react"

export interface Section {
  /** Route of its first page. */
  to:
    | "/$entity/$project"
    | "/$entity/$project/traces"
    | "/$entity/$project/models"
    | "/$entity/$project/evaluations"
    | "/$entity/$project/objects"
    | "/$entity/$project/queues"
    | "/$entity/$project/playground/{-$conversation}"
  /** Routes of its other lists, which do not begin with `to`. */
  also?: readonly string[]
  label: string
  icon: LucideIcon
  /** The key that opens the section when it is pressed after `g`. */
  key: string
}

export const sections: readonly Section[] = [
  { to: "/$entity/$project", label: "Overview", icon: LayoutDashboard, key: "o" },
  {
    to: "/$entity/$project/traces",
    also: ["/$entity/$project/conversations"],
    label: "Traces",
    icon: ListTree,
    key: "t",
  },
  {
    to: "/$entity/$project/models",
    also: [
      "/$entity/$project/jobs",
      "/$entity/$project/runs",
      "/$entity/$project/run-comparison",
      "/$entity/$project/artifacts",
      "/$entity/$project/base-models",
    ],
    label: "Models & jobs",
    icon: Spline,
    key: "m",
  },
  {
    to: "/$entity/$project/evaluations",
    also: ["/$entity/$project/compare"],
    label: "Evaluations",
    icon: FlaskConical,
    key: "e",
  },
  { to: "/$entity/$project/objects", label: "Datasets & objects", icon: Database, key: "d" },
  { to: "/$entity/$project/queues", label: "Labelling", icon: Highlighter, key: "l" },
  { to: "/$entity/$project/playground/{-$conversation}", label: "Playground", icon: MessageSquare, key: "p" },
]

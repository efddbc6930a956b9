/** How the sections are called, and in which groups they stand. */
import {
  Activity,
  Folder,
  Gauge,
  Globe,
  KeyRound,
  type LucideIcon,
  Ruler,
  ScrollText,
  ShieldX,
  Users,
} from "lucide-react"
import type { SettingsSection } from "./settings-search.ts"

interface Named {
  id: SettingsSection
  label: string
  icon: LucideIcon
}

export const sectionGroups: readonly { name: string; sections: readonly Named[] }[] = [
  {
    name: "You",
    sections: [
      { id: "keys", label: "API keys", icon: KeyRound },
      { id: "sessions", label: "Browsers", icon: Globe },
    ],
  },
  {
    name: "Project and team",
    sections: [
      { id: "usage", label: "Usage", icon: Gauge },
      { id: "quotas", label: "Quotas", icon: Ruler },
      { id: "people", label: "People and teams", icon: Users },
      { id: "project", label: "This project", icon: Folder },
    ],
  },
  {
    name: "Server",
    sections: [
      { id: "refused", label: "Refused requests", icon: ShieldX },
      { id: "audit", label: "Record of changes", icon: ScrollText },
      { id: "server", label: "Health", icon: Activity },
    ],
  },
]

/** How the sections are called, and in which groups they stand. */
import {
  Activity,
  ExternalLink,
  Folder,
  Gauge,
  Globe,
  HardDrive,
  KeyRound,
  ListChecks,
  type LucideIcon,
  Ruler,
  ScrollText,
  ShieldX,
  UserCheck,
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
      { id: "members", label: "Members", icon: UserCheck },
      { id: "usage", label: "Usage", icon: Gauge },
      { id: "quotas", label: "Quotas", icon: Ruler },
      { id: "people", label: "People and teams", icon: Users },
      { id: "storage", label: "Storage", icon: HardDrive },
      { id: "scoring", label: "Scoring rules", icon: ListChecks },
      { id: "outside", label: "Models outside", icon: ExternalLink },
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

/** A section that is not there has no name. */
export function sectionName(id: string): string | undefined {
  return sectionGroups.flatMap(({ sections }) => sections).find((section) => section.id === id)?.label
}

/** The sections of the settings, in their order, and what of them is in the address. */
import { searchChoice, searchKeys, searchText } from "../../../url/search.ts"

export const settingsSections = [
  "keys",
  "sessions",
  "members",
  "usage",
  "quotas",
  "people",
  "project",
  "storage",
  "scoring",
  "outside",
  "refused",
  "audit",
  "server",
] as const
export type SettingsSection = (typeof settingsSections)[number]

export function isSettingsSection(name: string): name is SettingsSection {
  return settingsSections.some((section) => section === name)
}

/** Each belongs to the sections that it names; the others leave it out. */
export const settingsSearch = searchKeys({
  /** keys, of an administrator: only one's own. */
  whose: searchChoice(["mine"]),
  /** usage: 30 days unless it says otherwise. */
  since: searchChoice(["24h", "7d"]),
  /** usage: by model unless it says otherwise. */
  by: searchChoice(["user", "key", "project"]),
  /** usage: of every project, and not of this one alone. */
  of: searchChoice(["all"]),
  /** usage: costs by model unless it says otherwise. */
  costs: searchChoice(["op", "user"]),
  /** quotas and audit: the name of a team. */
  team: searchText,
  /** audit: a type of change. */
  type: searchText,
  /** audit: the name of a user. */
  who: searchText,
})

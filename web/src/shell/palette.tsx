/** Search and jump: pages of this project, what is in it, projects, and what can be done here. */
import { useNavigate } from "@tanstack/react-router"
import { Boxes, ListTree, type LucideIcon, Settings, Spline } from "lucide-react"
import { useState } from "react"
import { Autocomplete, Input, Menu, MenuItem, SearchField } from "react-aria-components"
import { useProjects } from "../api/organization/projects.ts"
import { Dialog } from "../components/layers/dialog.tsx"
import { Icon } from "../components/signs/icon.tsx"
import { Keys } from "../components/signs/keys.tsx"
import { useAllCommands } from "./commands.ts"
import { useCurrentProject } from "./current-project.ts"
import { recentProjects } from "./recent-places.ts"
import { sections } from "./sections.ts"
import styles from "./palette.module.css"
import { mostFound, useProjectFinds } from "./use-project-finds.ts"

interface Entry {
  id: string
  label: string
  note: string
  icon: LucideIcon
  keys?: string
  run: () => void
}

/** Lists that are one step behind a page of the navigation. */
const lists = [
  { to: "/$entity/$project/traces", search: { lens: "conversations" }, label: "Conversations", icon: ListTree },
  { to: "/$entity/$project/traces", search: { lens: "agents" }, label: "Agents", icon: ListTree },
  { to: "/$entity/$project/traces", search: { lens: "feedback" }, label: "Feedback", icon: ListTree },
  { to: "/$entity/$project/jobs", search: {}, label: "Jobs", icon: Spline },
  { to: "/$entity/$project/runs", search: {}, label: "Runs", icon: Spline },
  { to: "/$entity/$project/artifacts", search: {}, label: "Artifacts", icon: Spline },
  { to: "/$entity/$project/base-models", search: {}, label: "Base models", icon: Spline },
] as const

export function Palette({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  return (
    <Dialog title="Search or jump" isTitleHidden isOpen={isOpen} onClose={onClose} isHigh>
      <PaletteList onClose={onClose} />
    </Dialog>
  )
}

function PaletteList({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("")
  const entries = useEntries(text)
  const inProject = useProjectFinds(useCurrentProject(), text)
  const words = text.toLowerCase().split(/\s+/)
  const named = entries.filter(({ label, note }) =>
    words.every((word) => `${label} ${note}`.toLowerCase().includes(word)),
  )
  const found: Entry[] = [...named, ...inProject.slice(0, mostFound)]
  return (
    <Autocomplete inputValue={text} onInputChange={setText}>
      <SearchField aria-label="Search or jump" autoFocus className={styles.field ?? ""}>
        <Input className={styles.input ?? ""} placeholder="Page, name, id, project or command" />
      </SearchField>
      <Menu
        className={styles.list ?? ""}
        aria-label="Found"
        items={found}
        onAction={(id) => {
          onClose()
          found.find((entry) => entry.id === id)?.run()
        }}
        renderEmptyState={() => <p className={styles.none}>Nothing found for “{text}”.</p>}
      >
        {({ id, label, note, icon, keys }) => (
          <MenuItem id={id} textValue={label} className={styles.item ?? ""}>
            <Icon of={icon} size={14} />
            <span className={styles.label}>{label}</span>
            <span className={styles.note}>{note}</span>
            {keys !== undefined && <Keys of={keys} />}
          </MenuItem>
        )}
      </Menu>
    </Autocomplete>
  )
}

function useEntries(text: string): Entry[] {
  const navigate = useNavigate()
  const current = useCurrentProject()
  const commands = useAllCommands()
  const { data } = useProjects({ limit: 20, ...(text === "" ? {} : { query: text }) })
  const recent = recentProjects()
  const projects = (data?.data ?? [])
    .map(({ entity, name }) => ({ entity, name, id: `${entity}/${name}` }))
    .toSorted((a, b) => rankOf(recent, a.id) - rankOf(recent, b.id))
  return [
    ...(current === null
      ? []
      : [
          ...sections.map(({ to, label, icon, key }) => ({
            id: to,
            label,
            note: "page",
            icon,
            keys: `g ${key}`,
            run: () => void navigate({ to, params: current.params }),
          })),
          // They come when somebody types: the pages are enough to choose from at first.
          ...(text === ""
            ? []
            : lists.map(({ to, search, label, icon }) => ({
                id: `list ${label}`,
                label,
                note: "page",
                icon,
                run: () => void navigate({ to, params: current.params, search }),
              }))),
          {
            id: "settings",
            label: "Usage & settings",
            note: "page",
            icon: Settings,
            run: () =>
              void navigate({
                to: "/$entity/$project/settings",
                params: current.params,
              }),
          },
        ]),
    ...projects.map(({ entity, name, id }) => ({
      id: `project ${id}`,
      label: id,
      note: "project",
      icon: Boxes,
      run: () => void navigate({ to: "/$entity/$project", params: { entity, project: name } }),
    })),
    ...commands.map((command) => ({ note: "command", ...command })),
  ]
}

function rankOf(recent: readonly string[], id: string): number {
  const rank = recent.indexOf(id)
  return rank === -1 ? recent.length : rank
}

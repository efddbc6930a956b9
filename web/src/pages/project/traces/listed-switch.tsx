/** What is listed of a project's traces: the outermost calls, every call, or what they are of. */
import { ListTree } from "lucide-react"
import { Segmented } from "../../../components/controls/segmented.tsx"
import { Menu, MenuItem } from "../../../components/layers/menu.tsx"
import styles from "./listed-switch.module.css"
import type { TracesSearch } from "./view-address.ts"

const lists = [
  { value: "roots", label: "Traces" },
  { value: "all", label: "All calls" },
  { value: "conversations", label: "Conversations" },
  { value: "agents", label: "Agents" },
  { value: "feedback", label: "Feedback" },
] as const

export type Listed = (typeof lists)[number]["value"]

/** Of the address what has a meaning in the other list too; undefined takes a key out. */
export function searchOfListed(listed: Listed, { lens: before, from, to, live }: TracesSearch): TracesSearch {
  const scope = listed === "all" ? listed : undefined
  const lens = listed === "roots" || listed === "all" ? undefined : listed
  if (lens === undefined && before === undefined) return { scope }
  const others = Object.fromEntries(
    ["q", "cols", "sort", "view", "values", "picked", "row", "agent", "kind", "by"].map((key) => [key, undefined]),
  )
  return { ...others, from, to, live, scope, lens }
}

interface ListedSwitchProps {
  listed: Listed
  onChange: (listed: Listed) => void
}

export function ListedSwitch({ listed, onChange }: ListedSwitchProps) {
  const name = lists.find(({ value }) => value === listed)?.label
  return (
    <>
      <span className={styles.wide}>
        <Segmented label="What is listed" value={listed} segments={lists} onChange={onChange} />
      </span>
      <span className={styles.narrow}>
        <Menu
          icon={ListTree}
          kind="quiet"
          label={`What is listed: ${name}`}
          items={lists.map(({ value, label }) => (
            <MenuItem key={value} onAction={() => onChange(value)}>
              {label}
            </MenuItem>
          ))}
        >
          <span className={styles.name}>{name}</span>
        </Menu>
      </span>
    </>
  )
}

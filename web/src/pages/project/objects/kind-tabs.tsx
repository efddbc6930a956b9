/** Kinds of objects with how many there are, each at its own address. */
import type { ReactNode } from "react"
import type { ObjectVersion } from "../../../api/objects/object-versions.ts"
import { type LinkTab, LinkTabs } from "../../../components/layout/link-tabs.tsx"
import { formatAtLeast } from "../../../format/numbers.ts"
import { countKinds } from "../../../objects/object-kinds.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import styles from "./kind-tabs.module.css"

interface KindTabsProps {
  project: CurrentProject
  objects: readonly ObjectVersion[]
  /** There are no others. */
  isWhole: boolean
  /** null: all of them. */
  open: string | null
  tools: ReactNode
}

export function KindTabs({ project: { params }, objects, isWhole, open, tools }: KindTabsProps) {
  const kinds = countKinds(objects, open ?? undefined).map(({ id, name, count }): LinkTab => ({
    id,
    name,
    count: formatAtLeast(count, isWhole),
    link: { to: "/$entity/$project/objects/$kind", params: { ...params, kind: id } },
  }))
  const all: LinkTab = {
    id: "*",
    name: "All",
    count: formatAtLeast(objects.length, isWhole),
    link: { to: "/$entity/$project/objects", params },
  }
  return <LinkTabs label="Kinds of objects" tabs={[all, ...kinds]} tools={<div className={styles.find}>{tools}</div>} />
}

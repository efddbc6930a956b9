/** Kinds of objects with how many there are, each at its own address. */
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import type { ObjectVersion } from "../../../api/objects/object-versions.ts"
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

export function KindTabs({ project: { entity, project }, objects, isWhole, open, tools }: KindTabsProps) {
  return (
    <div className={styles.bar}>
      <nav className={styles.tabs} aria-label="Kinds of objects">
        <Link
          to="/$entity/$project/objects"
          params={{ entity, project }}
          activeOptions={{ exact: true, includeSearch: false }}
          className={styles.tab}
        >
          All <span className={styles.count}>{formatAtLeast(objects.length, isWhole)}</span>
        </Link>
        {countKinds(objects, open ?? undefined).map(({ id, name, count }) => (
          <Link
            key={id}
            to="/$entity/$project/objects/$kind"
            params={{ entity, project, kind: id }}
            activeOptions={{ exact: true, includeSearch: false }}
            className={styles.tab}
          >
            {name} <span className={styles.count}>{formatAtLeast(count, isWhole)}</span>
          </Link>
        ))}
      </nav>
      <div className={styles.tools}>{tools}</div>
    </div>
  )
}

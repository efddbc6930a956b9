/** Tabs that lead to pages of their own, and the tools of the page beside them. */
import { Link, type LinkComponentProps } from "@tanstack/react-router"
import type { ReactNode } from "react"
import styles from "./link-tabs.module.css"

export interface LinkTab {
  id: string
  name: string
  /** How many things there are, beside the name. */
  count?: string
  link: Omit<LinkComponentProps, "children" | "className" | "activeOptions">
}

interface LinkTabsProps {
  label: string
  tabs: readonly LinkTab[]
  tools?: ReactNode
}

export function LinkTabs({ label, tabs, tools }: LinkTabsProps) {
  return (
    <div className={styles.bar}>
      <nav className={styles.tabs} aria-label={label}>
        {tabs.map(({ id, name, count, link }) => (
          <Link key={id} {...link} activeOptions={{ exact: true, includeSearch: false }} className={styles.tab}>
            {name} {count !== undefined && <span className={styles.count}>{count}</span>}
          </Link>
        ))}
      </nav>
      {tools !== undefined && <div className={styles.tools}>{tools}</div>}
    </div>
  )
}

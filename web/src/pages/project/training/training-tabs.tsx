/** The lists of this section, each at its own address. */
import { Link } from "@tanstack/react-router"
import type { ReactNode } from "react"
import type { CurrentProject } from "../../../shell/current-project.ts"
import styles from "./training-tabs.module.css"

const lists = [
  { to: "/$entity/$project/models", name: "Models" },
  { to: "/$entity/$project/jobs", name: "Jobs" },
  { to: "/$entity/$project/runs", name: "Runs" },
  { to: "/$entity/$project/artifacts", name: "Artifacts" },
  { to: "/$entity/$project/base-models", name: "Base models" },
] as const

export function TrainingTabs({ project, tools }: { project: CurrentProject; tools?: ReactNode }) {
  return (
    <div className={styles.bar}>
      <nav className={styles.tabs} aria-label="Models and jobs">
        {lists.map(({ to, name }) => (
          <Link
            key={to}
            to={to}
            params={project.params}
            activeOptions={{ exact: true, includeSearch: false }}
            className={styles.tab}
            preload="intent"
          >
            {name}
          </Link>
        ))}
      </nav>
      {tools !== undefined && <div className={styles.tools}>{tools}</div>}
    </div>
  )
}

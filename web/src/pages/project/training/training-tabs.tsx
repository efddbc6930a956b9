/** The lists of this section, each at its own address. */
import type { ReactNode } from "react"
import { LinkTabs } from "../../../components/layout/link-tabs.tsx"
import type { CurrentProject } from "../../../shell/current-project.ts"

const lists = [
  { to: "/$entity/$project/models", name: "Models" },
  { to: "/$entity/$project/jobs", name: "Jobs" },
  { to: "/$entity/$project/runs", name: "Runs" },
  { to: "/$entity/$project/artifacts", name: "Artifacts" },
  { to: "/$entity/$project/base-models", name: "Base models" },
] as const

export function TrainingTabs({ project, tools }: { project: CurrentProject; tools?: ReactNode }) {
  const tabs = lists.map(({ to, name }) => ({ id: to, name, link: { to, params: project.params } }))
  return <LinkTabs label="Models and jobs" tabs={tabs} tools={tools} />
}

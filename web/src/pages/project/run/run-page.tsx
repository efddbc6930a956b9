/** Where the link that `wandb.init` prints leads when no model has the run's name: how the run is read instead. */
import { getRouteApi } from "@tanstack/react-router"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { Empty } from "../../../components/states/empty.tsx"
import { Code } from "../../../components/text/code.tsx"
import { useProjectOfPage } from "../../../shell/current-project.ts"
import styles from "./run-page.module.css"

const route = getRouteApi("/signed-in/$entity/$project/runs/$name")

export function RunPage() {
  const project = useProjectOfPage()
  const { name } = route.useParams()
  const code = [
    `run = wandb.Api().run(${JSON.stringify(`${project.id}/${name}`)})`,
    "run.state, run.config, run.summary",
    "run.history()  # a table of what was logged",
    "run.files(), run.logged_artifacts()",
  ].join("\n")
  return (
    <>
      <PageBar title={name} />
      <div className={styles.body}>
        <Empty title="Only runs of models have a page">
          No model of {project.id} is called <code>{name}</code>. A run that the wandb client logged under this name is
          kept all the same, and the client reads it:
        </Empty>
        <Code label="Code that reads the run" code={code} />
      </div>
    </>
  )
}

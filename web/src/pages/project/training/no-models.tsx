/** A project without models: the first lines that make one. */
import { serverUrl } from "../../../base-path.ts"
import { Empty } from "../../../components/states/empty.tsx"
import { Code } from "../../../components/text/code.tsx"
import type { CurrentProject } from "../../../shell/current-project.ts"
import styles from "./no-models.module.css"

export function NoModels({ project }: { project: CurrentProject }) {
  const code = [
    `backend = ServerlessBackend(api_key=KEY, base_url="${serverUrl}/v1")`,
    `model = art.TrainableModel(name="agent-001", project="${project.project}", base_model="heddle/tiny")`,
    "await model.register(backend)",
  ].join("\n")
  return (
    <div className={styles.none}>
      <Empty title="No models yet">A model is made by the first register of ART:</Empty>
      <Code label="Code for a first model" code={code} />
    </div>
  )
}

/** A project without runs: the lines that start one. */
import { serverUrl } from "../../../base-path.ts"
import { Empty } from "../../../components/states/empty.tsx"
import { Code } from "../../../components/text/code.tsx"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { NothingLogged } from "../training/logged-list.tsx"

export function NoRuns({ project }: { project: CurrentProject }) {
  const code = [
    `wandb.login(key=KEY, host="${serverUrl}")`,
    `run = wandb.init(entity="${project.entity}", project="${project.project}")`,
    'run.log({"loss": 0.5})',
  ].join("\n")
  return (
    <NothingLogged>
      <Empty title="No runs yet" waitingFor="a first run">
        A run is made by <code>wandb.init</code>, and shows what the program logs, its config and its files:
      </Empty>
      <Code label="Code for a first run" code={code} />
    </NothingLogged>
  )
}

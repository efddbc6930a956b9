/** A project without evaluations: the lines that run the first one. */
import { serverUrl } from "../../../base-path.ts"
import { Empty } from "../../../components/states/empty.tsx"
import { Code } from "../../../components/text/code.tsx"
import type { CurrentProject } from "../../../shell/current-project.ts"
import styles from "./no-evaluations.module.css"

export function NoEvaluations({ project }: { project: CurrentProject }) {
  const code = [
    `# WF_TRACE_SERVER_URL=${serverUrl}`,
    `weave.init("${project.id}")`,
    'dataset = [{"question": "2+2=", "expected": "4"}]',
    "@weave.op",
    "def exact(expected, output): return output == expected",
    'evaluation = weave.Evaluation(name="sums", dataset=dataset, scorers=[exact])',
    "asyncio.run(evaluation.evaluate(model))",
  ].join("\n")
  return (
    <div className={styles.none}>
      <Empty title="No evaluations yet" waitingFor="the first run">
        Runs and their comparison appear here. These lines run one:
      </Empty>
      <Code label="Code for a first evaluation" code={code} />
    </div>
  )
}

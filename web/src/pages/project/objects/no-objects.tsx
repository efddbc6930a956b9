/** Nothing is published yet: the lines that publish. */
import { serverUrl } from "../../../base-path.ts"
import { Empty } from "../../../components/states/empty.tsx"
import { Code } from "../../../components/text/code.tsx"
import { nameOfKind } from "../../../objects/object-kinds.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import styles from "./no-objects.module.css"

export function NoObjects({ project, kind }: { project: CurrentProject; kind: string | null }) {
  const code = [
    `# export WF_TRACE_SERVER_URL="${serverUrl}"`,
    `weave.init("${project.id}")`,
    'weave.publish(weave.Dataset(name="questions", rows=[{"question": "4+5=", "expected": "9"}]))',
  ].join("\n")
  return (
    <div className={styles.none}>
      <Empty title={kind === null ? "Nothing is published yet" : `No ${nameOfKind(kind).toLowerCase()} yet`}>
        Publish from code; each publication of a name is a version of it. Traced functions are published by themselves.
      </Empty>
      <Code label="Code that publishes a dataset" code={code} />
    </div>
  )
}

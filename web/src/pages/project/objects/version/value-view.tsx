/** The value of a version as a tree, the code that it was published with, or what differs from another version. */
import { useObjectVersion } from "../../../../api/objects/object-versions.ts"
import { JsonViewer } from "../../../../components/json/json-viewer.tsx"
import { PaneHead } from "../../../../components/layout/pane.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { LongText } from "../../../../components/text/long-text.tsx"
import { boardColumns } from "../../../../evaluations/leaderboard.ts"
import type { JsonText } from "../../../../json/json-text.ts"
import { memberTexts } from "../../../../json/json-text.ts"
import { diffValues } from "../../../../objects/value-diff.ts"
import { MediaStrip } from "../../media/media-strip.tsx"
import { CallCode } from "../../trace/call-code.tsx"
import { Leaderboard } from "../leaderboard/leaderboard.tsx"
import { ComparisonTools } from "./comparison-tools.tsx"
import { CellDiff } from "./cell-diff.tsx"
import type { VersionViewProps } from "./dataset-view.tsx"
import styles from "./value-view.module.css"

export function ValueView({ project, version, others, against, search, onChange }: VersionViewProps) {
  const isComparing = against !== undefined && search.show === "changes"
  const prompt = promptText(version.val)
  const hasCode = version.kind === "op"
  const board = version.base_object_class === "Leaderboard" ? boardColumns(version.val) : null
  const hasMore = prompt !== null || hasCode || board !== null
  return (
    <section className={styles.view} aria-label="Value">
      <PaneHead
        title={isComparing ? `v${version.version_index} against v${against.version_index}` : "Value"}
        tools={
          <ComparisonTools
            label="What is shown"
            whole="Value"
            isComparing={isComparing}
            others={others}
            against={against}
            onShow={(show) => onChange({ show: show === "changes" ? show : undefined })}
            onAgainst={(name) => onChange({ against: name, show: "changes" })}
          />
        }
      />
      {isComparing ? (
        <ValueChanges project={project} version={version} against={against} />
      ) : (
        <div className={styles.body}>
          {prompt !== null && (
            <div className={styles.prompt}>
              <LongText text={prompt} />
            </div>
          )}
          {board !== null && <Leaderboard project={project} columns={board} />}
          {hasCode && (
            <CallCode opRef={`weave:///${project.id}/${version.kind}/${version.object_id}:${version.digest}`} />
          )}
          <MediaStrip project={project.id} label="Value" text={version.val} />
          <JsonViewer label="Value" text={version.val} {...(hasMore ? { height: 360 } : {})} />
        </div>
      )}
    </section>
  )
}

/** The words of a prompt that is one text; null: the value is something else. */
function promptText(val: JsonText): string | null {
  if (!val.trimStart().startsWith("{")) return null
  const content = memberTexts(val).get("content")
  return content?.startsWith('"') === true ? (JSON.parse(content) as string) : null
}

const heads = [
  { name: "Where", className: styles.path },
  { name: "What differs", className: styles.change },
]

type ValueChangesProps = Pick<VersionViewProps, "project" | "version"> & {
  against: NonNullable<VersionViewProps["against"]>
}

function ValueChanges({ project, version, against }: ValueChangesProps) {
  const read = useObjectVersion({ project_id: project.id, object_id: version.object_id, digest: against.digest })
  return (
    <div className={styles.body}>
      <Loaded query={read} what="version to compare with">
        {({ val }) => {
          const changes = diffValues(val, version.val)
          return changes.length === 0 ? (
            <Empty title="Nothing differs">
              v{against.version_index} and v{version.version_index} have the same value.
            </Empty>
          ) : (
            <PlainTable label={`What differs from v${against.version_index}`} heads={heads}>
              {changes.map(({ path, before, after }) => (
                <tr key={path} className={styles.row}>
                  <td className={styles.path}>
                    <code>{path === "" ? "the whole value" : path}</code>
                    <span className={styles.kind}>
                      {before === null ? "added" : after === null ? "removed" : "changed"}
                    </span>
                  </td>
                  <td className={styles.change} dir="auto">
                    <CellDiff before={before} after={after} />
                  </td>
                </tr>
              ))}
            </PlainTable>
          )
        }}
      </Loaded>
    </div>
  )
}

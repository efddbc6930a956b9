/** Beside the curves of a run: when and where it ran, its config and summary, its artifacts and files. */
import type { OfRun, OneRun } from "../../../../api/runs/runs.ts"
import { JsonViewer } from "../../../../components/json/json-viewer.tsx"
import { KeyValue, KeyValues } from "../../../../components/layout/key-values.tsx"
import { PaneHead } from "../../../../components/layout/pane.tsx"
import { Tag } from "../../../../components/signs/tag.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { counted } from "../../../../format/counted.ts"
import { formatDuration } from "../../../../format/durations.ts"
import { shortId } from "../../../../format/ids.ts"
import { memberTexts } from "../../../../json/json-text.ts"
import { isUnderWay } from "../run-state.tsx"
import { configText, lastStep, machineOf, memberNumber, summaryText } from "../run-values.ts"
import { RunArtifacts } from "./run-artifacts.tsx"
import { RunFiles } from "./run-files.tsx"
import styles from "./run-facts.module.css"

export function RunFacts({ of, run }: { of: OfRun; run: OneRun }) {
  return (
    // The keyboard must reach what scrolls.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div className={styles.facts} tabIndex={0} role="region" aria-label="About the run">
      <section aria-label="Run">
        <PaneHead title="Run" note={run.name} />
        <div className={styles.values}>
          <Facts run={run} />
        </div>
      </section>
      <Document title="Config" text={configText(run.config)} none="The run has no config." />
      <Document title="Summary" text={summaryText(run.summaryMetrics)} none="The run has no summary yet." />
      <RunArtifacts of={of} heardAt={run.heartbeatAt} />
      <RunFiles of={of} count={run.fileCount} />
    </div>
  )
}

function Facts({ run }: { run: OneRun }) {
  const step = lastStep(run.summaryMetrics)
  const machine = machineOf(run.config)
  return (
    <KeyValues>
      <KeyValue name="Started">
        <Time at={run.createdAt} /> by {run.user.username}
      </KeyValue>
      <KeyValue name="Last heard">
        <Time at={run.heartbeatAt} show="ago" />
      </KeyValue>
      <KeyValue name={isUnderWay(run) ? "Runs for" : "Ran for"}>
        {formatDuration(ranFor(run))}
        {run.exitCode !== null && run.exitCode !== 0 && `, exit code ${run.exitCode}`}
      </KeyValue>
      {step !== null && <KeyValue name="Last step">{step}</KeyValue>}
      {run.group && <KeyValue name="Group">{run.group}</KeyValue>}
      {run.jobType && <KeyValue name="Job type">{run.jobType}</KeyValue>}
      {run.tags.length > 0 && (
        <KeyValue name="Tags">
          <span className={styles.tags}>
            {run.tags.map((tag) => (
              <Tag key={tag}>{tag}</Tag>
            ))}
          </span>
        </KeyValue>
      )}
      {run.notes && <KeyValue name="Notes">{run.notes}</KeyValue>}
      {run.host && <KeyValue name="Host">{run.host}</KeyValue>}
      {machine.map(({ name, value }) => (
        <KeyValue key={name} name={name}>
          {value}
        </KeyValue>
      ))}
      {run.commit && (
        <KeyValue name="Commit">
          <code title={run.commit}>{shortId(run.commit)}</code>
        </KeyValue>
      )}
    </KeyValues>
  )
}

/** As the client measured it; without that, how long it was heard of. */
function ranFor({ summaryMetrics, createdAt, heartbeatAt }: OneRun): number {
  const seconds = memberNumber(summaryMetrics, "_runtime")
  return seconds === null ? Date.parse(heartbeatAt) - Date.parse(createdAt) : seconds * 1000
}

const rowHeight = 22
const headHeight = 52
/** Taller documents scroll. */
const mostRows = 14

function Document({ title, text, none }: { title: string; text: string; none: string }) {
  const size = memberTexts(text).size
  // The whole is a row too.
  const height = headHeight + rowHeight * Math.min(mostRows, size + 1)
  return (
    <section aria-label={title}>
      <PaneHead title={title} note={size === 0 ? undefined : counted(size, "value")} />
      {size === 0 ? (
        <p className={styles.none}>{none}</p>
      ) : (
        <div className={styles.document}>
          <JsonViewer label={title} text={text} height={height} />
        </div>
      )}
    </section>
  )
}

/** The runs of the wandb client in a project, the newest first. */
import { type ListedRun, useRunPages } from "../../../api/runs/runs.ts"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { PlainTable } from "../../../components/layout/plain-table.tsx"
import { Tag } from "../../../components/signs/tag.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { formatExact, formatNumber } from "../../../format/numbers.ts"
import { type CurrentProject, useProjectOfPage } from "../../../shell/current-project.ts"
import { underWay } from "../training/live.ts"
import { MoreRows } from "../training/more-rows.tsx"
import { TrainingTabs } from "../training/training-tabs.tsx"
import { NoRuns } from "./no-runs.tsx"
import { RunState } from "./run-state.tsx"
import { lastStep, summaryNumbers } from "./run-values.ts"
import styles from "./runs-page.module.css"

/** Values of the summary in a row. */
const mostValues = 3

const heads = [
  { name: "State", className: styles.state },
  { name: "Run", className: styles.run },
  { name: "Summary", className: styles.summary },
  { name: "Last step", className: styles.step },
  { name: "Created", className: styles.time },
]

export function RunsPage() {
  const project = useProjectOfPage()
  const runs = useRunPages(project.params, underWay)
  return (
    <>
      <PageBar title="Models & jobs" />
      <TrainingTabs project={project} />
      <div className={styles.list}>
        <Loaded query={runs} what="runs">
          {(rows) =>
            rows.length === 0 ? (
              <NoRuns project={project} />
            ) : (
              <PlainTable label="Runs" heads={heads}>
                {rows.map((run) => (
                  <RunRow key={run.name} run={run} project={project} />
                ))}
              </PlainTable>
            )
          }
        </Loaded>
        <MoreRows what="runs" query={runs} />
      </div>
    </>
  )
}

function RunRow({ run, project }: { run: ListedRun; project: CurrentProject }) {
  const step = lastStep(run.summaryMetrics)
  const place = [run.group, run.jobType].filter(Boolean).join(" · ")
  return (
    <tr className={styles.row}>
      <td className={styles.state}>
        <RunState of={run.state} />
      </td>
      <td className={styles.run}>
        <TextLink
          isQuiet
          className={styles.title}
          to="/$entity/$project/runs/$name"
          params={{ ...project.params, name: run.name }}
          title={run.name}
        >
          {run.displayName || run.name}
        </TextLink>
        {(place !== "" || run.tags.length > 0) && (
          <span className={styles.note}>
            {place !== "" && <span>{place}</span>}
            <span className={styles.tags}>
              {run.tags.map((tag) => (
                <Tag key={tag}>{tag}</Tag>
              ))}
            </span>
          </span>
        )}
      </td>
      <td className={styles.summary}>
        {summaryNumbers(run.summaryMetrics)
          .slice(0, mostValues)
          .map(({ name, value }) => (
            <span key={name} className={styles.value}>
              <span className={styles.name}>{name}</span> <b title={formatExact(value)}>{formatNumber(value)}</b>{" "}
            </span>
          ))}
      </td>
      <td className={styles.step}>{step ?? "–"}</td>
      <td className={styles.time}>
        <Time at={run.createdAt} />
      </td>
    </tr>
  )
}

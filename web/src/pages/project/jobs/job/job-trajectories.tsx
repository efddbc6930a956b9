/** Trajectories of an RL job: groups as rows, a cell each, with what teaches nothing and what was left out. */
import type { ListedJob } from "@heddle/server/wire/training/job.ts"
import type { TrajectorySummary } from "@heddle/server/wire/training/trained-trajectory.ts"
import { getRouteApi } from "@tanstack/react-router"
import { ChevronDown, ChevronUp, Equal } from "lucide-react"
import { useTrajectoryGroups } from "../../../../api/training/trajectories.ts"
import { Segmented } from "../../../../components/controls/segmented.tsx"
import { PaneHead } from "../../../../components/layout/pane.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Icon } from "../../../../components/signs/icon.tsx"
import { StatusIcon } from "../../../../components/signs/status.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { counted, nounOf } from "../../../../format/counted.ts"
import { formatCount, formatScore } from "../../../../format/numbers.ts"
import { useProjectOfPage } from "../../../../shell/current-project.ts"
import { eventsMs } from "../../training/live.ts"
import { MoreRows } from "../../training/more-rows.tsx"
import { Cells } from "../trajectory/cells.tsx"
import { ordered, rewardScale, rewardText } from "../trajectory/group-cells.ts"
import { Legend } from "../trajectory/legend.tsx"
import type { CellValue, GroupOrder } from "./job-search.ts"
import styles from "./job-trajectories.module.css"

const route = getRouteApi("/signed-in/$entity/$project/jobs/$id")

const values: { value: CellValue; label: string }[] = [
  { value: "reward", label: "Reward" },
  { value: "advantage", label: "Advantage" },
  { value: "tokens", label: "Tokens" },
]
const orders: { value: GroupOrder; label: string }[] = [
  { value: "data", label: "As sent" },
  { value: "spread", label: "Widest spread" },
  { value: "mean", label: "Lowest mean" },
]
const heads = [
  { name: "Question", className: styles.question },
  { name: "Trajectories" },
  { name: "Mean ± spread", className: styles.mean },
]

export function JobTrajectories({ job }: { job: ListedJob }) {
  const project = useProjectOfPage()
  const { by = "reward", sort = "data" } = route.useSearch()
  const navigate = route.useNavigate()
  const query = useTrajectoryGroups(job.id, eventsMs)
  return (
    <section className={styles.pane} aria-label="Trajectories">
      <Loaded query={query} what="trajectories">
        {(pages) => {
          const summary = pages[0]?.summary ?? null
          if (summary === null) return <NothingKept job={job} isWaiting={pages[0]?.state === "waiting"} />
          const loaded = pages.flatMap(({ data }) => data)
          const scale = rewardScale(summary.lowest_reward, summary.highest_reward)
          return (
            <>
              <PaneHead title="Groups" note={noteOf(summary)} />
              <div className={styles.tools}>
                <Segmented
                  label="Cells show"
                  value={by}
                  segments={values}
                  onChange={(value) => void navigate({ search: (old) => ({ ...old, by: value }), replace: true })}
                />
                <Segmented
                  label="Order"
                  value={sort}
                  segments={orders}
                  onChange={(value) => void navigate({ search: (old) => ({ ...old, sort: value }), replace: true })}
                />
                <CellLegend by={by} scale={scale} />
              </div>
              <Drops summary={summary} />
              {query.hasNextPage && sort !== "data" && (
                <p className={styles.note}>
                  Ordered among the {counted(loaded.length, "group that is", "groups that are")} shown.
                </p>
              )}
              <div className={styles.table} data-rows>
                <PlainTable label="Groups of trajectories" heads={heads}>
                  {ordered(loaded, sort).map((group, row) => (
                    <tr key={group.id}>
                      <th scope="row" className={styles.question} title={group.question}>
                        {group.question || <span className={styles.none}>group {group.group}, no question</span>}
                      </th>
                      <td>
                        <Cells
                          project={project}
                          jobId={job.id}
                          group={group}
                          by={by}
                          scale={scale}
                          isFirst={row === 0}
                        />
                      </td>
                      <td className={styles.mean}>
                        {!group.has_contrast && (
                          <span className={styles.flat}>
                            <Icon of={Equal} size={12} /> no contrast
                          </span>
                        )}
                        <b>{formatScore(group.mean_reward)}</b> ± {formatScore(group.reward_std_dev)}
                      </td>
                    </tr>
                  ))}
                </PlainTable>
              </div>
              <MoreRows what="groups" query={query} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

function noteOf({
  groups,
  groups_with_contrast: teaching,
  trajectories,
  trajectories_trained: trained,
}: TrajectorySummary) {
  return `${formatCount(teaching)} of ${formatCount(groups)} ${nounOf(groups, "has", "have")} contrast · ${formatCount(trained)} of ${counted(trajectories, "trajectory", "trajectories")} trained`
}

function CellLegend({ by, scale: { low, high } }: { by: CellValue; scale: { low: number; high: number } }) {
  if (by === "tokens") return <span className={styles.legend}>tokens that were trained</span>
  return (
    <span className={styles.legend}>
      {by === "reward" ? (
        <Legend
          ramp="reward"
          values={[0, 1, 2, 3, 4, 5, 6, 7, 8].map((step) => step / 8)}
          low={`reward ${rewardText(low)}`}
          high={rewardText(high)}
        />
      ) : (
        <Legend
          ramp="advantage"
          values={[-2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2]}
          low="made less likely"
          high="likelier"
        />
      )}
      <span className={styles.mark}>
        <Icon of={ChevronUp} size={12} /> best
      </span>
      <span className={styles.mark}>
        <Icon of={ChevronDown} size={12} /> worst of its group
      </span>
    </span>
  )
}

/** Dropped trajectories, by cause. */
function Drops({ summary: { drops } }: { summary: TrajectorySummary }) {
  if (drops.length === 0) return null
  return (
    <ul className={styles.drops} aria-label="Not trained">
      {drops.map(({ cause, reason, trajectories }) => (
        <li key={cause}>
          {cause === "no_contrast" || cause === "zero_advantage" ? (
            <Icon of={Equal} size={14} />
          ) : (
            <StatusIcon of="warning" name="Left out" />
          )}
          <b>{counted(trajectories, "trajectory", "trajectories")}</b> {reason}
        </li>
      ))}
    </ul>
  )
}

function NothingKept({ job, isWaiting }: { job: ListedJob; isWaiting: boolean }) {
  if (isWaiting) {
    return (
      <Empty title="No trajectories yet" waitingFor="the job to read its data">
        Groups appear here as soon as the job has read its data, before its first gradient step.
      </Empty>
    )
  }
  return (
    <Empty title="No trajectories are kept">
      {job.kind !== "rl"
        ? "This job learns from dialogues or pairs of them: it has no rollouts to compare."
        : "Their time is over, or the job ended before it read its data. Rewards and metrics of its step stay. How many days they are kept is the limit training_record_days of the server."}
    </Empty>
  )
}

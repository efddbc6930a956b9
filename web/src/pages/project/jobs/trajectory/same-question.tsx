/** The same question in the model's other jobs, the newest first: whether its answers get better. */
import { useSameQuestion } from "../../../../api/training/trajectories.ts"
import { PaneHead } from "../../../../components/layout/pane.tsx"
import { rampColors } from "../../../../components/signs/heat.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { counted, nounOf } from "../../../../format/counted.ts"
import { formatCount, formatScore } from "../../../../format/numbers.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { CellLink, CellList } from "./cell-link.tsx"
import { rewardText } from "./group-cells.ts"
import styles from "./same-question.module.css"

interface SameQuestionProps {
  project: CurrentProject
  jobId: string
  group: number
  scale: { low: number; high: number }
}

export function SameQuestion({ project, jobId, group, scale: { low, high } }: SameQuestionProps) {
  const query = useSameQuestion(jobId, group)
  return (
    <section aria-label="Same question across steps">
      <PaneHead title="Same question across steps" note="the newest first" />
      <Loaded query={query} what="other jobs">
        {({ data, jobs_searched: searched, is_complete: isComplete }) => {
          const isAlone = data.every((one) => one.training_job_id === jobId)
          return (
            <>
              {isAlone && (
                <p className={styles.none}>
                  In no other of the {counted(searched, "job")} of this model whose trajectories are kept.
                </p>
              )}
              <ol className={styles.steps}>
                {data.map((one) => {
                  const isThis = one.training_job_id === jobId && one.group === group
                  return (
                    <li key={`${one.training_job_id} ${one.group}`} className={styles.step}>
                      <p className={styles.head}>
                        <b>{one.output_step === null ? "no step made" : `step ${one.output_step}`}</b>
                        {isThis && <span>this group</span>}
                        <span className={styles.mean}>
                          mean {formatScore(one.mean_reward)} ± {formatScore(one.reward_std_dev)}
                        </span>
                        <Time at={one.created_at} />
                      </p>
                      <CellList>
                        {one.trajectories.map(({ index, reward }) => {
                          const { ground, ink } = rampColors("reward", (reward - low) / (high - low))
                          return (
                            <li key={index}>
                              <CellLink
                                project={project}
                                jobId={one.training_job_id}
                                group={one.group}
                                index={index}
                                isFlat={!one.has_contrast}
                                style={one.has_contrast ? { background: ground, color: ink } : undefined}
                                aria-label={`${one.output_step === null ? "no step" : `step ${one.output_step}`}, trajectory ${index}, reward ${formatScore(reward)}`}
                              >
                                {rewardText(reward)}
                              </CellLink>
                            </li>
                          )
                        })}
                      </CellList>
                    </li>
                  )
                })}
              </ol>
              {!isComplete && (
                <p className={styles.none}>
                  Older jobs than {nounOf(searched, "this one", `these ${formatCount(searched)}`)} were not looked
                  through.
                </p>
              )}
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

/** The strip of figures: how far, how long, how fast, what it makes. */
import type { ListedJob } from "@heddle/server/wire/training/job.ts"
import type { ReactNode } from "react"
import { useNow } from "../../../../clock/use-now.ts"
import { Count } from "../../../../components/signs/figures.tsx"
import { Meter } from "../../../../components/signs/meter.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { formatDuration, formatEstimate } from "../../../../format/durations.ts"
import { formatCount } from "../../../../format/numbers.ts"
import { jobProgress } from "../../training/job-progress.ts"
import { jobDuration } from "../../training/job-words.ts"
import { type GradientCurve, trainedTokens } from "./gradient-curves.ts"
import styles from "./job-figures.module.css"

export function JobFigures({ job, curves }: { job: ListedJob; curves: readonly GradientCurve[] }) {
  const now = useNow(1)
  const { share, leftMs } = jobProgress(job)
  const took = jobDuration(job, now)
  const tokens = trainedTokens(curves)
  const speed = curves.find(({ metric }) => metric === "tokens_per_second")?.y.at(-1)
  const { entity, project, model, gradient_steps: done, expected_gradient_steps: expected, output_step: step } = job
  const params = { entity, project, name: model }
  return (
    <section className={styles.strip} aria-label="Figures">
      <div className={styles.progress}>
        <span className={styles.name}>
          Gradient steps
          {leftMs !== null && job.ended_at === null && <span>{formatEstimate(leftMs)} left</span>}
        </span>
        <span className={styles.value}>
          {formatCount(done)} <small>of {expected === null ? "?" : formatCount(expected)}</small>
          <span className={styles.meter}>
            <Meter share={share} label="Gradient steps" />
          </span>
        </span>
      </div>
      <Figure name="Model">
        <TextLink to="/$entity/$project/models/$name" params={params}>
          {model}
        </TextLink>
      </Figure>
      <Figure name="Makes">
        {step === null ? (
          job.ended_at === null ? (
            "a step, when it ends"
          ) : (
            "no step"
          )
        ) : (
          <TextLink to="/$entity/$project/models/$name/steps/$step" params={{ ...params, step: `${step}` }}>
            step {step}
          </TextLink>
        )}
      </Figure>
      <Figure name={job.ended_at !== null ? "Took" : job.paused_at === null ? "Runs for" : "Since its start"}>
        {took === null ? "–" : formatDuration(took)}
      </Figure>
      <Figure name={job.started_at === null ? "Asked for" : "Started"}>
        <Time at={job.started_at ?? job.created_at} />
      </Figure>
      <Figure name="Trained tokens">{tokens === null ? "–" : <Count of={tokens} />}</Figure>
      <Figure name="Throughput">
        {speed === undefined ? (
          "–"
        ) : (
          <>
            {formatCount(Math.round(speed))} <small>tokens/s</small>
          </>
        )}
      </Figure>
    </section>
  )
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={styles.figure}>
      <span className={styles.name}>{name}</span>
      <span className={styles.value}>{children}</span>
    </div>
  )
}

/** The data of an ended job: what was trained on, and what was left out and why. */
import type { ListedJob } from "@heddle/server/wire/training/job.ts"
import { useCheckpoint } from "../../../../api/training/training.ts"
import { PaneHead } from "../../../../components/layout/pane.tsx"
import { KeyValue, KeyValues } from "../../../../components/layout/key-values.tsx"
import { StatusIcon } from "../../../../components/signs/status.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { formatMetricWithUnit, inReadingOrder, isLoss, metricName } from "../../training/metric-words.ts"
import styles from "./job-data.module.css"

export function JobData({ job }: { job: ListedJob }) {
  const { output_step: step } = job
  return (
    <section aria-label="Data">
      <PaneHead title="Data" note="what was trained on, and what was left out" />
      <div className={styles.body}>
        {step === null ? (
          <p className={styles.none}>
            {job.ended_at === null
              ? "Counted when the job ends. What is dropped for its length is warned of before."
              : "The job made no step, so nothing was counted."}
          </p>
        ) : (
          <CountedData modelId={job.model_id} step={step} />
        )}
      </div>
    </section>
  )
}

function CountedData({ modelId, step }: { modelId: string; step: number }) {
  const checkpoint = useCheckpoint(modelId, step)
  return (
    <Loaded query={checkpoint} what="counts">
      {({ metrics }) => (
        <KeyValues>
          {inReadingOrder(Object.keys(metrics))
            .map((metric) => [metric, metrics[metric] ?? 0] as const)
            .map(([metric, value]) => (
              <KeyValue key={metric} name={metricName(metric)}>
                {formatMetricWithUnit(metric, value)}{" "}
                {value > 0 && isLoss(metric) && <StatusIcon of="warning" name="left out" />}
              </KeyValue>
            ))}
        </KeyValues>
      )}
    </Loaded>
  )
}

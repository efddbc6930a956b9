/** The steps of a model that are kept, the newest first. */
import type { ListedModel } from "@heddle/server/wire/training/model.ts"
import { useCheckpointPages } from "../../../../api/training/training-pages.ts"
import { Pane } from "../../../../components/layout/pane.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { formatScore } from "../../../../format/numbers.ts"
import { formatBytes } from "../../../../format/sizes.ts"
import { MoreRows } from "../../training/more-rows.tsx"
import { metricName } from "../../training/metric-words.ts"
import { tellingMetrics } from "../../training/telling-curve.ts"
import styles from "./model-steps.module.css"

export function ModelSteps({ model, live }: { model: ListedModel; live: { refetchInterval: number } }) {
  const checkpoints = useCheckpointPages(model.id, live)
  const rows = (checkpoints.data ?? []).flatMap(({ data }) => data)
  const metric = tellingMetrics.find((name) => rows.some(({ metrics }) => metrics[name] !== undefined))
  const heads = [
    { name: "Step", className: styles.step },
    { name: metric === undefined ? "Reward" : metricName(metric), className: styles.value },
    { name: "Made", className: styles.time },
    { name: "Size", className: styles.size },
  ]
  const { entity, project, name } = model
  return (
    <Pane title="Steps" note={rows.length > 0 && !checkpoints.hasNextPage ? `${rows.length} kept` : undefined}>
      <Loaded query={checkpoints} what="steps">
        {() =>
          rows.length === 0 ? (
            <p className={styles.none}>Every step was deleted. The next training begins at the base model.</p>
          ) : (
            <PlainTable label={`Steps of ${name}`} heads={heads}>
              {rows.map(({ id, step, metrics, created_at, size_bytes }) => {
                const value = metric === undefined ? undefined : metrics[metric]
                return (
                  <tr key={id}>
                    <td className={styles.step}>
                      <TextLink
                        isQuiet
                        to="/$entity/$project/models/$name/steps/$step"
                        params={{ entity, project, name, step: `${step}` }}
                      >
                        step {step}
                      </TextLink>
                    </td>
                    <td className={styles.value}>{value === undefined ? "–" : formatScore(value, 3)}</td>
                    <td className={styles.time}>
                      <Time at={created_at} />
                    </td>
                    <td className={styles.size}>{size_bytes === 0 ? "–" : formatBytes(size_bytes)}</td>
                  </tr>
                )
              })}
            </PlainTable>
          )
        }
      </Loaded>
      <MoreRows what="steps" query={checkpoints} />
    </Pane>
  )
}

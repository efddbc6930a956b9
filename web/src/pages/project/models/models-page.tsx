/** The models of a project: what each learns, how far it is, what runs. */
import type { ListedModel } from "@heddle/server/wire/training/model.ts"
import { Zap } from "lucide-react"
import { useModelMetricsOfPages, useModelPages } from "../../../api/training/training-pages.ts"
import { Sparkline } from "../../../components/charts/sparkline.tsx"
import { LinkButton } from "../../../components/controls/button.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { PlainTable } from "../../../components/layout/plain-table.tsx"
import { Status } from "../../../components/signs/status.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { counted } from "../../../format/counted.ts"
import { formatScore } from "../../../format/numbers.ts"
import { useProjectOfPage } from "../../../shell/current-project.ts"
import { idle, underWay } from "../training/live.ts"
import { MoreRows } from "../training/more-rows.tsx"
import { NoModels } from "../training/no-models.tsx"
import { type TellingCurve, tellingCurve, tellingMetrics } from "../training/telling-curve.ts"
import { TrainingTabs } from "../training/training-tabs.tsx"
import styles from "./models-page.module.css"

const pointsOfCurve = 120

const heads = [
  { name: "Model", className: styles.name },
  { name: "Curve over steps", className: styles.curve },
  { name: "Newest", className: styles.value },
  { name: "Step", className: styles.step },
  { name: "Last trained", className: styles.time },
  { name: "Now", className: styles.now },
]

export function ModelsPage() {
  const project = useProjectOfPage()
  const models = useModelPages(project.params, { refetchInterval: underWay.refetchInterval })
  const pages = models.data ?? []
  const isTraining = pages.some(({ data }) => data.some(({ open_jobs }) => open_jobs > 0))
  const metrics = useModelMetricsOfPages(
    pages.map(({ data }) => data.map(({ id }) => id)),
    { metric: tellingMetrics, points: pointsOfCurve },
    isTraining ? underWay : idle,
  )
  const learned = metrics.flatMap(({ data }) => data?.data ?? [])
  const rows = pages.flatMap(({ data }) => data)
  return (
    <>
      <PageBar
        title="Models & jobs"
        actions={
          <LinkButton icon={Zap} to="/$entity/$project/train" params={project.params}>
            Train on what is here
          </LinkButton>
        }
      />
      <TrainingTabs project={project} />
      <div className={styles.list}>
        <Loaded query={models} what="models">
          {() =>
            rows.length === 0 ? (
              <NoModels project={project} />
            ) : (
              <PlainTable label="Models" heads={heads}>
                {rows.map((model) => (
                  <ModelRow
                    key={model.id}
                    model={model}
                    telling={tellingCurve(learned.find(({ model_id }) => model_id === model.id)?.curves ?? [])}
                  />
                ))}
              </PlainTable>
            )
          }
        </Loaded>
        <MoreRows what="models" query={models} />
      </div>
    </>
  )
}

function ModelRow({ model, telling }: { model: ListedModel; telling: TellingCurve | null }) {
  const values = telling?.curve.last ?? []
  const newest = values.at(-1)
  const { entity, project, name, open_jobs: open } = model
  return (
    <tr className={styles.row}>
      <td className={styles.name}>
        <TextLink
          isQuiet
          className={styles.title}
          to="/$entity/$project/models/$name"
          params={{ entity, project, name }}
        >
          {name}
        </TextLink>
        <span className={styles.note}>{model.base_model}</span>
      </td>
      <td className={styles.curve}>
        {telling !== null && values.length > 1 ? (
          <Sparkline values={values} what={`${telling.name} of ${name}`} width={320} height={40} />
        ) : (
          <span className={styles.note}>{telling === null ? "not trained yet" : "one step so far"}</span>
        )}
      </td>
      <td className={styles.value}>
        {newest !== undefined && telling !== null && (
          <>
            <b>{formatScore(newest, 3)}</b>
            <span className={styles.note}>{telling.name}</span>
          </>
        )}
      </td>
      <td className={styles.step}>{model.latest_step ?? "none left"}</td>
      <td className={styles.time}>
        {model.latest_step === 0 || model.latest_step_at === null ? "never" : <Time at={model.latest_step_at} />}
      </td>
      <td className={styles.now}>
        {open === 0 ? (
          <span className={styles.idle}>idle</span>
        ) : (
          <Status of="running">{counted(open, "open job")}</Status>
        )}
      </td>
    </tr>
  )
}

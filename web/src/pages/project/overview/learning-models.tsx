/** The models of the project with the curve of what they learn, the one that moved last first. */
import type { ListedModel } from "@heddle/server/wire/training/model.ts"
import { Spline } from "lucide-react"
import type { ReactNode } from "react"
import { useModelMetrics } from "../../../api/training/training.ts"
import { Sparkline } from "../../../components/charts/sparkline.tsx"
import { Pane } from "../../../components/layout/pane.tsx"
import { Delta } from "../../../components/signs/delta.tsx"
import { Count } from "../../../components/signs/figures.tsx"
import { Icon } from "../../../components/signs/icon.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { counted } from "../../../format/counted.ts"
import { formatScore } from "../../../format/numbers.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { type TellingCurve, tellingCurve, tellingMetrics } from "../training/telling-curve.ts"
import styles from "./learning-models.module.css"
import { slow } from "./live.ts"
import { useNewestModels } from "./use-newest-models.ts"

const mostShown = 8
const pointsOfCurve = 60

interface LearningModelsProps {
  project: CurrentProject
  /** Where there are no models. */
  none: ReactNode
}

export function LearningModels({ project, none }: LearningModelsProps) {
  const models = useNewestModels(project)
  const newest = (models.data?.data ?? []).toSorted((a, b) => movedAt(b) - movedAt(a)).slice(0, mostShown)
  const metrics = useModelMetrics(
    { model_id: newest.map(({ id }) => id), metric: tellingMetrics, points: pointsOfCurve },
    slow,
  )
  const curveOf = (modelId: string) =>
    tellingCurve(metrics.data?.data.find(({ model_id }) => model_id === modelId)?.curves ?? [])
  return (
    <Pane
      title="Models"
      note={models.data && <Count of={models.data.data.length} isWhole={!models.data.has_more} />}
      tools={
        <TextLink to="/$entity/$project/models" params={project.params}>
          All models
        </TextLink>
      }
      isOpenEnded
    >
      <Loaded query={models} what="models">
        {() =>
          newest.length === 0 ? (
            none
          ) : (
            <ul>
              {newest.map((model) => (
                <ModelRow key={model.id} model={model} telling={curveOf(model.id)} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Pane>
  )
}

function ModelRow({ model, telling }: { model: ListedModel; telling: TellingCurve | null }) {
  const values = telling?.curve.last ?? []
  const [first, last] = [values[0], values.at(-1)]
  const isMoved = telling !== null && first !== undefined && last !== undefined && values.length > 1
  return (
    <li className={styles.row}>
      <Icon of={Spline} className={styles.icon} />
      <div className={styles.words}>
        <TextLink
          isQuiet
          className={styles.name}
          to="/$entity/$project/models/$name"
          params={{ entity: model.entity, project: model.project, name: model.name }}
        >
          {model.name}
        </TextLink>
        <span className={styles.note}>
          {model.latest_step === null ? "no step left" : `step ${model.latest_step}`}
          {isMoved && `, ${telling.name} ${formatScore(first)} → ${formatScore(last)}`}, {model.base_model}
          {model.open_jobs > 0 && `, ${counted(model.open_jobs, "job")} open`}
        </span>
      </div>
      <span className={styles.delta}>{isMoved && <Delta value={last - first} />}</span>
      <span>{isMoved && <Sparkline values={values} what={`${telling.name} of ${model.name}`} />}</span>
      <span className={styles.time}>
        <Time at={model.latest_step_at ?? model.created_at} />
      </span>
    </li>
  )
}

function movedAt({ latest_step_at, created_at }: ListedModel): number {
  return Date.parse(latest_step_at ?? created_at)
}

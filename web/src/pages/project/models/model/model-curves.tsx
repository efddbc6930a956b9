/** The curves of a model: the chosen panel large, the telling ones beside it small, on one x axis. The choice is in the address. */
import type { ListedModel } from "@heddle/server/wire/training/model.ts"
import { getRouteApi } from "@tanstack/react-router"
import { useModelMetrics, useModels } from "../../../../api/training/training.ts"
import { Empty } from "../../../../components/states/empty.tsx"
import { LiveDot } from "../../../../components/signs/live-dot.tsx"
import { type MetricPanel, metricPanels, smallPanels } from "../../training/metric-panels.ts"
import { CurveChart } from "./curve-chart.tsx"
import { CurveTools } from "./curve-tools.tsx"
import styles from "./model-curves.module.css"

const route = getRouteApi("/signed-in/$entity/$project/models/$name")

/** As many points as the widest chart has columns for, so that its peaks are the true ones. */
const points = 1000
/** Other models on the same charts. More lines could not be told apart. */
const mostOthers = 5
const chartHeights = { large: 260, small: 150 }

interface ModelCurvesProps {
  model: ListedModel
  /** Names of all that the model has. */
  metrics: readonly string[]
  live: { refetchInterval: number }
}

export function ModelCurves({ model, metrics, live }: ModelCurvesProps) {
  const search = route.useSearch()
  const { entity, project } = model
  const siblings = useModels({ entity, project, limit: 100 })
  const withNames = (search.with ?? []).slice(0, mostOthers)
  const others = withNames.flatMap((name) => siblings.data?.data.find((one) => one.name === name) ?? [])
  const panels = metricPanels(metrics)
  const chosen = panels.find(({ id }) => id === search.metric) ?? panels[0]
  const small = chosen === undefined ? [] : smallPanels(panels, chosen)
  const shown = [model, ...others]
  const answer = useModelMetrics(
    {
      model_id: shown.map(({ id }) => id),
      metric: [...(chosen?.metrics ?? []), ...small.flatMap((panel) => panel.metrics)],
      points,
    },
    { ...live, enabled: chosen !== undefined },
  )
  if (chosen === undefined) return <NoCurve model={model} />

  const curvesOf = (panel: MetricPanel) =>
    shown.flatMap((one) => {
      const learned = answer.data?.data.find(({ model_id }) => model_id === one.id)?.curves ?? []
      return panel.metrics.flatMap((metric) => {
        const curve = learned.find((each) => each.metric === metric)
        return curve === undefined ? [] : [{ model: one.name, metric, curve }]
      })
    })
  return (
    <>
      <CurveTools
        panels={panels}
        chosen={chosen}
        others={withNames}
        siblings={(siblings.data?.data ?? []).map(({ name }) => name).filter((name) => name !== model.name)}
        mostOthers={mostOthers}
      />
      <CurveChart panel={chosen} curves={curvesOf(chosen)} models={shown} height={chartHeights.large} />
      <div className={styles.small}>
        {small.map((panel) => (
          <CurveChart
            key={panel.id}
            panel={panel}
            curves={curvesOf(panel)}
            models={shown}
            height={chartHeights.small}
            isSmall
          />
        ))}
      </div>
    </>
  )
}

function NoCurve({ model }: { model: ListedModel }) {
  return (
    <Empty title="Nothing learned yet">
      {model.open_jobs === 0 ? (
        <p>Curves appear here with the first step that a training job makes.</p>
      ) : (
        <p>
          <LiveDot kind="accent" /> A job is open; the first curve appears here when it has made a step.
        </p>
      )}
    </Empty>
  )
}

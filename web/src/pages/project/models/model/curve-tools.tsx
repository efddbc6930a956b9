/** Controls of the curves: metric, x axis, smoothing, other models. All of it is in the address. */
import { getRouteApi } from "@tanstack/react-router"
import { X } from "lucide-react"
import { Button } from "../../../../components/controls/button.tsx"
import { SelectField } from "../../../../components/controls/field.tsx"
import { Segmented } from "../../../../components/controls/segmented.tsx"
import { formatScore } from "../../../../format/numbers.ts"
import type { MetricPanel } from "../../training/metric-panels.ts"
import styles from "./curve-tools.module.css"

const route = getRouteApi("/signed-in/$entity/$project/models/$name")

interface CurveToolsProps {
  panels: readonly MetricPanel[]
  chosen: MetricPanel
  /** Names of the models beside this one. */
  others: readonly string[]
  /** Names of those that could be. */
  siblings: readonly string[]
  mostOthers: number
}

export function CurveTools({ panels, chosen, others, siblings, mostOthers }: CurveToolsProps) {
  const { x = "step", smooth = 0, x0 } = route.useSearch()
  const navigate = route.useNavigate()
  const change = (changes: ReturnType<typeof route.useSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true })
  const compare = (names: readonly string[]) => change({ with: names.length === 0 ? undefined : [...names] })
  const addable = siblings.filter((name) => !others.includes(name))
  return (
    <div className={styles.tools} role="toolbar" aria-label="Curves">
      <span className={styles.metric}>
        <SelectField
          label="Metric"
          isLabelHidden
          value={chosen.id}
          onChange={({ target }) => change({ metric: target.value === panels[0]?.id ? undefined : target.value })}
        >
          {panels.map(({ id, title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </SelectField>
      </span>
      <Segmented
        label="Horizontal axis"
        value={x}
        segments={[
          { value: "step", label: "Step" },
          { value: "time", label: "Time" },
        ]}
        // The part that is shown is one of the other axis.
        onChange={(next) => change({ x: next === "time" ? next : undefined, x0: undefined, x1: undefined })}
      />
      <label className={styles.smooth}>
        Smoothing
        <input
          type="range"
          min={0}
          max={0.95}
          step={0.05}
          value={smooth}
          onChange={({ target }) => change({ smooth: Number(target.value) || undefined })}
        />
        <output>{formatScore(smooth)}</output>
      </label>
      {others.map((name) => (
        <Button
          key={name}
          size="small"
          icon={X}
          aria-label={`Leave out ${name}`}
          onClick={() => compare(others.filter((one) => one !== name))}
        >
          <span className={styles.other}>{name}</span>
        </Button>
      ))}
      {addable.length > 0 && others.length < mostOthers && (
        <span className={styles.compare}>
          <SelectField
            label="Compare with"
            isLabelHidden
            value=""
            onChange={({ target }) => compare([...others, target.value])}
          >
            <option value="">Compare with…</option>
            {addable.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </SelectField>
        </span>
      )}
      <span className={styles.hint}>
        {x0 === undefined ? (
          "drag to zoom"
        ) : (
          <Button size="small" onClick={() => change({ x0: undefined, x1: undefined })}>
            Show all
          </Button>
        )}
      </span>
    </div>
  )
}

/** Controls of the curves: metric, x axis, smoothing, other models. All of it is in the address. */
import { getRouteApi } from "@tanstack/react-router"
import { X } from "lucide-react"
import { Button } from "../../../../components/controls/button.tsx"
import { SelectField } from "../../../../components/controls/field.tsx"
import { AxisTools, ZoomHint } from "../../training/axis-tools.tsx"
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
  const search = route.useSearch()
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
      <AxisTools search={search} onChange={change} />
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
      <ZoomHint
        search={search}
        onChange={change}
        {...(search.x === "time" ? {} : { words: "drag to zoom, click for a step" })}
      />
    </div>
  )
}

/** A chart of `wandb.plot` as it was logged at one step, or its table: when that is asked for, and where no chart is known. */
import { Table as TableIcon } from "lucide-react"
import { useState } from "react"
import type { ColorToken } from "../../../../components/charts/chart-colors.ts"
import { ChartLegend } from "../../../../components/charts/line-chart.tsx"
import { XyPlot, type XySeries } from "../../../../components/charts/xy-plot.tsx"
import { Button } from "../../../../components/controls/button.tsx"
import { BarsView } from "./bars-view.tsx"
import { HistogramView } from "./histogram-view.tsx"
import type { LoggedTable } from "./logged-table.ts"
import { MatrixView } from "./matrix-view.tsx"
import styles from "./plot-view.module.css"
import { type Plot, type PlotDefinition, type PlotLine, plotOf } from "./plots.ts"
import { TableRows } from "./table-rows.tsx"
import { ReadTable, type TableFile } from "./table-view.tsx"

const height = 200
const colors = ["series-1", "series-2", "series-3", "series-4", "series-5", "series-6"] as const

export function PlotView({ definition, ...file }: TableFile & { definition: PlotDefinition }) {
  return (
    <ReadTable {...file}>{(table) => <Shown title={file.title} definition={definition} table={table} />}</ReadTable>
  )
}

interface ShownProps {
  title: string
  definition: PlotDefinition
  table: LoggedTable
}

function Shown({ title, definition, table }: ShownProps) {
  const [isTable, setTable] = useState(false)
  const plot = plotOf(definition, table)
  if (plot === null) return <TableRows label={title} table={table} />
  return (
    <div className={styles.shown}>
      {isTable ? <TableRows label={title} table={table} /> : <Drawn title={title} plot={plot} />}
      <span className={styles.tools}>
        <Button
          size="small"
          kind="quiet"
          icon={TableIcon}
          isOn={isTable}
          aria-label={`Show as a table: ${title}`}
          onClick={() => setTable(!isTable)}
        />
      </span>
    </div>
  )
}

function Drawn({ title, plot }: { title: string; plot: Plot }) {
  switch (plot.kind) {
    case "lines":
    case "points": {
      const series = plot.lines.map(seriesOf)
      return (
        <>
          <XyPlot label={title} series={series} kind={plot.kind} height={height} />
          {series.length > 1 && <ChartLegend series={series} />}
        </>
      )
    }
    case "bars":
      return <BarsView label={title} labels={plot.labels} values={plot.values} />
    case "histogram":
      return <HistogramView label={title} histogram={plot.histogram} />
    case "matrix":
      return <MatrixView label={title} labels={plot.labels} counts={plot.counts} />
  }
}

function seriesOf({ name, x, y }: PlotLine, place: number): XySeries {
  const color: ColorToken = colors[place % colors.length] ?? "series-1"
  return { name, color, x, y }
}

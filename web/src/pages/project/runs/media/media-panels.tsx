/** Panels of some names that are read together, each with the step whose object it shows. */
import { useState } from "react"
import { type LoggedObject, useLoggedObjects } from "../../../../api/runs/run-media.ts"
import type { OfRun } from "../../../../api/runs/runs.ts"
import { classNames } from "../../../../components/class-names.ts"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { FilesView } from "./files-view.tsx"
import { HistogramStepsView } from "./histogram-steps-view.tsx"
import { HistogramView } from "./histogram-view.tsx"
import { type LoggedMedia, loggedMedia } from "./logged-media.ts"
import styles from "./media-panels.module.css"
import { PlotView } from "./plot-view.tsx"
import type { PlotDefinition } from "./plots.ts"
import { TableView } from "./table-view.tsx"

/** A chart, or what has no definition of one and is shown as it is. */
type PanelItem = PlotDefinition | { name: string; table: string }

interface MediaPanelsProps {
  of: OfRun
  heardAt: string
  items: readonly PanelItem[]
  /** Each panel has the whole width. */
  isWide?: boolean
}

export function MediaPanels({ of, heardAt, items, isWide = false }: MediaPanelsProps) {
  const query = useLoggedObjects(of, heardAt, [...new Set(items.map(({ table }) => table))])
  return (
    <>
      {query.error && (
        <div className={styles.error}>
          <ErrorNote
            what="What was logged could not be read."
            error={query.error}
            onRetry={() => void query.refetch()}
          />
        </div>
      )}
      <div className={classNames(styles.grid, isWide && styles.wide)}>
        {items.map((item) => (
          <Panel key={item.name} of={of} item={item} objects={query.data?.get(item.table)} />
        ))}
      </div>
    </>
  )
}

interface PanelProps {
  of: OfRun
  item: PanelItem
  /** undefined: not read yet. */
  objects: readonly LoggedObject[] | undefined
}

function Panel({ of, item, objects }: PanelProps) {
  // null: the newest, which another one may become.
  const [chosen, setChosen] = useState<number | null>(null)
  const all = objects?.flatMap(({ step, value }) => {
    const media = loggedMedia(value)
    return media === null ? [] : [{ step, media }]
  })
  const last = (all?.length ?? 0) - 1
  const place = chosen === null ? last : Math.min(chosen, last)
  const shown = all?.[place]
  const title = "title" in item ? item.title : item.name
  return (
    <section className={styles.panel} aria-label={title}>
      <header className={styles.head}>
        <h3 className={styles.name} title={item.name}>
          {title}
        </h3>
        {shown !== undefined && (
          <label className={styles.step}>
            {last > 0 && (
              <input
                type="range"
                aria-label={`Step of ${title}`}
                aria-valuetext={`step ${shown.step}`}
                min={0}
                max={last}
                value={place}
                onChange={({ target }) => setChosen(Number(target.value) === last ? null : Number(target.value))}
              />
            )}
            step {shown.step}
          </label>
        )}
      </header>
      {shown?.media.kind === "histogram" && (
        <HistogramStepsView label={title} steps={histogramsOf(all ?? [])} shown={shown.step} />
      )}
      {shown !== undefined && <View of={of} item={item} title={title} media={shown.media} />}
      {all?.length === 0 && <p className={styles.none}>What was logged under this name cannot be shown.</p>}
    </section>
  )
}

const histogramsOf = (all: readonly { step: number; media: LoggedMedia }[]) =>
  all.flatMap(({ step, media }) => (media.kind === "histogram" ? [{ step, histogram: media.histogram }] : []))

interface ViewProps {
  of: OfRun
  item: PanelItem
  title: string
  media: LoggedMedia
}

function View({ of, item, title, media }: ViewProps) {
  if (media.kind === "files") return <FilesView of={of} name={item.name} files={media.files} />
  if (media.kind === "histogram") return <HistogramView label={title} histogram={media.histogram} />
  const shared = { of, title, path: media.path, bytes: media.bytes }
  return "preset" in item ? (
    <PlotView {...shared} definition={item} />
  ) : (
    <TableView {...shared} artifact={media.artifact} />
  )
}

/** What a run logged beside its numbers: charts of `wandb.plot`, tables, pictures and other files, histograms. */
import type { ReactNode } from "react"
import { type OfRun, useRunMetrics } from "../../../../api/runs/runs.ts"
import { Fold } from "../../../../components/layout/fold.tsx"
import { InParts } from "../../../../components/layout/in-parts.tsx"
import { kindOfType, type MediaKind } from "./logged-media.ts"
import { MediaPanels } from "./media-panels.tsx"
import { plotDefinitions } from "./plots.ts"

/** How many names of a kind are read together: full rows of two, three and four; a table is as wide as the page. */
const panelsOfPart = { charts: 12, table: 6, files: 12, histogram: 12 }

interface RunMediaProps {
  of: OfRun
  /** When it was heard of last. */
  heardAt: string
  config: string
}

export function RunMedia({ of, heardAt, config }: RunMediaProps) {
  const names = useMediaNames(of, heardAt)
  const logged = new Set(names.map(({ name }) => name))
  const plots = plotDefinitions(config).filter(({ table }) => logged.has(table))
  const plotted = new Set(plots.map(({ table }) => table))
  const namesOf = (kind: MediaKind) =>
    names.flatMap(({ name, type }) => (kindOfType(type) === kind && !plotted.has(name) ? [{ name, table: name }] : []))
  const shared = { of, heardAt }
  return (
    <>
      <Section title="Charts" items={plots} size={panelsOfPart.charts}>
        {(part, key) => <MediaPanels key={key} {...shared} items={part} />}
      </Section>
      <Section title="Tables" items={namesOf("table")} size={panelsOfPart.table}>
        {(part, key) => <MediaPanels key={key} {...shared} items={part} isWide />}
      </Section>
      <Section title="Media" items={namesOf("files")} size={panelsOfPart.files}>
        {(part, key) => <MediaPanels key={key} {...shared} items={part} />}
      </Section>
      <Section title="Histograms" items={namesOf("histogram")} size={panelsOfPart.histogram} isFolded>
        {(part, key) => <MediaPanels key={key} {...shared} items={part} />}
      </Section>
    </>
  )
}

/** The names that the metrics of the run come with. */
export function useMediaNames(of: OfRun, heardAt: string): readonly { name: string; type: string }[] {
  const query = useRunMetrics([{ of, heardAt, parameters: { source: "history" } }])
  return query.data?.flatMap(({ read }) => read.media) ?? []
}

interface SectionProps<Item> {
  title: string
  items: readonly Item[]
  size: number
  /** At first: `watch` logs a histogram for every layer of a model. */
  isFolded?: boolean
  children: (part: readonly Item[], key: number) => ReactNode
}

function Section<Item>({ title, items, size, isFolded = false, children }: SectionProps<Item>) {
  if (items.length === 0) return null
  return (
    <Fold title={title} count={items.length} isOpenAtFirst={!isFolded}>
      <InParts items={items} size={size} title={title}>
        {children}
      </InParts>
    </Fold>
  )
}

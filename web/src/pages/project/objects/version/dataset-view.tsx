/** The rows of a version of a dataset: all of them, or those that differ from another version; of the newest one to be changed. */
import { Plus } from "lucide-react"
import { useState } from "react"
import { type ObjectVersion, useObjectVersion } from "../../../../api/objects/object-versions.ts"
import { useTableSizes } from "../../../../api/objects/tables.ts"
import { useMayWrite } from "../../../../api/rights.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { PaneHead } from "../../../../components/layout/pane.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { nounOf } from "../../../../format/counted.ts"
import { formatExact } from "../../../../format/numbers.ts"
import { tableOfDataset } from "../../../../objects/dataset-table.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { ComparisonTools } from "./comparison-tools.tsx"
import { DatasetChanges } from "./dataset-changes.tsx"
import { DatasetRows } from "./dataset-rows.tsx"
import { DraftBar } from "./draft-bar.tsx"
import { RowDialog } from "./row-dialog.tsx"
import { useDatasetDraft } from "./use-dataset-draft.ts"
import type { VersionSearch } from "./version-search.ts"
import styles from "./dataset-view.module.css"

export interface VersionViewProps {
  project: CurrentProject
  version: ObjectVersion
  /** The other versions, the newest first. */
  others: readonly ObjectVersion[]
  /** The version to compare with, or undefined. */
  against: ObjectVersion | undefined
  search: VersionSearch
  onChange: (next: VersionSearch) => void
}

export function DatasetView({ table, ...props }: VersionViewProps & { table: string }) {
  const { project, version, others, against, search, onChange } = props
  const sizes = useTableSizes(project.id, [table])
  const size = sizes.data?.tables[0]
  const isComparing = against !== undefined && search.show !== "all"
  const newer = others.find(({ version_index: index }) => index > version.version_index)
  const draft = useDatasetDraft(project, version, size?.count ?? 0)
  const mayChange = useMayWrite(project.id) && newer === undefined && !draft.isPublishing
  const [isAdding, setAdding] = useState(false)
  const rows = (size?.count ?? 0) + draft.counts.added
  return (
    <section className={styles.view} aria-label="Rows">
      <PaneHead
        title={isComparing ? `v${version.version_index} against v${against.version_index}` : "Rows"}
        tools={
          <>
            {mayChange && size !== undefined && (
              <Button size="small" icon={Plus} onClick={() => setAdding(true)}>
                Add a row
              </Button>
            )}
            <ComparisonTools
              label="Which rows"
              whole="All"
              isComparing={isComparing}
              others={others}
              against={against}
              onShow={(show) => onChange({ show, row: undefined })}
              onAgainst={(name) => onChange({ against: name, show: "changes" })}
            />
          </>
        }
        note={size && `${formatExact(size.count)} ${nounOf(size.count, "row")}`}
      />
      {isComparing ? (
        <Compared {...props} key={against.digest} against={against} table={table} />
      ) : (
        <Loaded query={sizes} what="rows">
          {() =>
            size === undefined ? (
              <Empty title="The rows are not there">The table that this version names was never stored here.</Empty>
            ) : rows === 0 ? (
              <Empty title="No rows">This version has none.</Empty>
            ) : (
              <DatasetRows
                project={project}
                table={table}
                count={size.count}
                draft={draft}
                mayChange={mayChange}
                search={search}
                onChange={onChange}
              />
            )
          }
        </Loaded>
      )}
      {!draft.isEmpty && <DraftBar project={project} version={version} newer={newer} of={draft} />}
      {isAdding && (
        <RowDialog
          title="Add a row"
          text="{}"
          onTake={(text) => {
            draft.add(text)
            // It is the last of all rows, and is seen there.
            onChange({ show: "all", row: rows })
          }}
          onClose={() => setAdding(false)}
        />
      )}
    </section>
  )
}

function Compared({ table, against, ...props }: VersionViewProps & { table: string; against: ObjectVersion }) {
  const { project, version } = props
  const body = { project_id: project.id, object_id: version.object_id, digest: against.digest }
  const read = useObjectVersion(body)
  return (
    <Loaded query={read} what="version to compare with">
      {({ val }) => {
        const before = tableOfDataset(val, project.id)
        return before === null ? (
          <Empty title="Nothing to compare with">v{against.version_index} has no rows of a table.</Empty>
        ) : (
          <DatasetChanges
            project={project}
            before={{ table: before, name: `v${against.version_index}` }}
            after={{ table, name: `v${version.version_index}` }}
          />
        )
      }}
    </Loaded>
  )
}

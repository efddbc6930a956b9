/** A `wandb.Table` that was logged at one step. */
import type { ReactNode } from "react"
import { fileAddress, useTextFile } from "../../../../api/files.ts"
import type { OfRun } from "../../../../api/runs/runs.ts"
import { DownloadButton } from "../../../../components/controls/download-button.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { formatBytes } from "../../../../format/sizes.ts"
import { type LoggedTable, loggedTable } from "./logged-table.ts"
import { TableRows } from "./table-rows.tsx"
import styles from "./table-view.module.css"

export interface TableFile {
  of: OfRun
  title: string
  path: string
  bytes: number
}

/** A larger one would take a page long to read. */
const mostBytes = 8 * 1024 * 1024

export function TableView(props: TableFile) {
  return <ReadTable {...props}>{(table) => <TableRows label={props.title} table={table} />}</ReadTable>
}

interface ReadTableProps extends TableFile {
  children: (table: LoggedTable) => ReactNode
}

/** The table once its file was read. One that is too large, or no table, is only saved. */
export function ReadTable({ of, title, path, bytes, children }: ReadTableProps) {
  const isLarge = bytes > mostBytes
  const query = useTextFile({ run: of, path }, !isLarge)
  const save = <DownloadButton size="small" label={`Download ${title}`} href={fileAddress({ run: of, path }, {})} />
  if (isLarge) {
    return (
      <p className={styles.note}>
        The table has {formatBytes(bytes)}, too much to be shown here. {save}
      </p>
    )
  }
  return (
    <Loaded query={query} what="rows">
      {(text) => {
        const table = loggedTable(text)
        return table === null ? <p className={styles.note}>The file is no table of wandb. {save}</p> : children(table)
      }}
    </Loaded>
  )
}

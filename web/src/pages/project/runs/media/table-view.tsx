/** A `wandb.Table` that was logged at one step. */
import type { ReactNode } from "react"
import { fileAddress, useTextFile } from "../../../../api/files.ts"
import { type ArtifactPlace, useArtifactTable } from "../../../../api/runs/artifact-tables.ts"
import type { OfRun } from "../../../../api/runs/runs.ts"
import { DownloadButton } from "../../../../components/controls/download-button.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { formatBytes } from "../../../../format/sizes.ts"
import { hasMediaWords, type LoggedTable, loggedTable } from "./logged-table.ts"
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

/** `artifact`: which has the table too. */
export function TableView({ artifact, ...file }: TableFile & { artifact: ArtifactPlace | null }) {
  return (
    <ReadTable {...file}>
      {(table) =>
        artifact !== null && hasMediaWords(table) ? (
          <TableWithMedia of={file.of} title={file.title} plain={table} artifact={artifact} />
        ) : (
          <TableRows label={file.title} table={table} />
        )
      }
    </ReadTable>
  )
}

interface TableWithMediaProps extends Pick<TableFile, "of" | "title"> {
  /** With words for what is no text. */
  plain: LoggedTable
  artifact: ArtifactPlace
}

/** With its pictures and sounds, once the artifact is there and read; until then with words for them. */
function TableWithMedia({ of, title, plain, artifact }: TableWithMediaProps) {
  const read = useArtifactTable(artifact, mostBytes).data
  const table = read == null ? null : loggedTable(read.text)
  if (read == null || table === null) return <TableRows label={title} table={plain} />
  return <TableRows label={title} table={table} media={{ project: `${of.entity}/${of.project}`, files: read.files }} />
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

/** How many rows each version of a dataset has, and how many differ from the version before. */
import { useObjectVersions } from "../../../../api/objects/object-versions.ts"
import { useTableParts, useTableSizes } from "../../../../api/objects/tables.ts"
import { tableOfDataset } from "../../../../objects/dataset-table.ts"
import { type ChangeCounts, countChanges, diffRows } from "../../../../objects/row-diff.ts"

/** Rows are read to be compared: of versions that are seen at once, and of tables that are read at once. */
const mostCompared = 12
const mostRows = 1000
const mostBytes = 500_000

interface VersionRows {
  count: number
  /** null: it is the first one, or too large to be compared in a list. */
  changes: ChangeCounts | null
}

/** By the digest of a version; null: not known, or not of a dataset. */
export function useRowChanges(
  projectId: string,
  name: string,
  isDataset: boolean,
): (digest: string) => VersionRows | null {
  const versions = useObjectVersions(
    {
      project_id: projectId,
      filter: { object_ids: [name], is_op: false },
      sort_by: [{ field: "created_at", direction: "desc" }],
      limit: 100,
    },
    isDataset,
  )
  const datasets = (versions.data ?? [])
    .toSorted((a, b) => b.version_index - a.version_index)
    .flatMap(({ digest, val }) => {
      const table = tableOfDataset(val, projectId)
      return table === null ? [] : [{ digest, table }]
    })
  const sizes = useTableSizes(projectId, [...new Set(datasets.map(({ table }) => table))].toSorted())
  const sizeOf = new Map(sizes.data?.tables.map((size) => [size.digest, size]))
  const isSmall = (table: string) => {
    const size = sizeOf.get(table)
    return size !== undefined && size.count <= mostRows && (size.storage_size_bytes ?? 0) <= mostBytes
  }
  const read = [...new Set(datasets.slice(0, mostCompared).map(({ table }) => table))].filter(isSmall)
  const parts = useTableParts(read.map((digest) => ({ project_id: projectId, digest })))
  const rowsOf = new Map(read.map((table, index) => [table, parts[index]?.data]))
  const found = new Map(
    datasets.flatMap(({ digest, table }, index): [string, VersionRows][] => {
      const count = sizeOf.get(table)?.count
      if (count === undefined) return []
      const [before, after] = [rowsOf.get(datasets[index + 1]?.table ?? ""), rowsOf.get(table)]
      const changes = before === undefined || after === undefined ? null : countChanges(diffRows(before, after))
      return [[digest, { count, changes }]]
    }),
  )
  return (digest) => found.get(digest) ?? null
}

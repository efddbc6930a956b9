/** Published objects of a project, in their newest version: datasets, prompts, models, scorers, evaluations, ops, values. */
import { getRouteApi } from "@tanstack/react-router"
import { Upload } from "lucide-react"
import { useState } from "react"
import { ApiError } from "../../../api/api-error.ts"
import { type ObjectVersion, useObjectVersions } from "../../../api/objects/object-versions.ts"
import { useTableSizes } from "../../../api/objects/tables.ts"
import { useMayWrite } from "../../../api/rights.ts"
import { Button } from "../../../components/controls/button.tsx"
import { TextField } from "../../../components/controls/field.tsx"
import { DataTable } from "../../../components/data-table/data-table.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { Empty } from "../../../components/states/empty.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { formatAtLeast, formatCount } from "../../../format/numbers.ts"
import { filterOfKind, kindOfObject, nameOfKind } from "../../../objects/object-kinds.ts"
import { tableOfDataset } from "../../../objects/dataset-table.ts"
import { type CurrentProject, useProjectOfPage } from "../../../shell/current-project.ts"
import { useMedia } from "../../../shell/use-media.ts"
import { ImportDataset } from "./import-dataset.tsx"
import { KindTabs } from "./kind-tabs.tsx"
import { NoObjects } from "./no-objects.tsx"
import { objectColumns, placeOf } from "./object-columns.tsx"
import styles from "./objects-page.module.css"

const allRoute = getRouteApi("/signed-in/$entity/$project/objects")
const kindRoute = getRouteApi("/signed-in/$entity/$project/objects/$kind")

/** More names than a person reads through; those published last come first. */
const mostObjects = 2000

export function ObjectsPage() {
  const project = useProjectOfPage()
  const { q = "" } = allRoute.useSearch()
  const navigate = allRoute.useNavigate()
  const search = (text: string) => void navigate({ search: { q: text }, replace: true })
  return <Objects key={project.id} project={project} kind={null} search={q} onSearch={search} />
}

export function ObjectKindPage() {
  const project = useProjectOfPage()
  const { kind } = kindRoute.useParams()
  const { q = "" } = kindRoute.useSearch()
  const navigate = kindRoute.useNavigate()
  const search = (text: string) => void navigate({ search: { q: text }, replace: true })
  return <Objects key={`${project.id}/${kind}`} project={project} kind={kind} search={q} onSearch={search} />
}

interface ObjectsProps {
  project: CurrentProject
  /** null: all kinds. */
  kind: string | null
  search: string
  onSearch: (text: string) => void
}

function Objects({ project, kind, search, onSearch }: ObjectsProps) {
  const list = {
    project_id: project.id,
    sort_by: [{ field: "created_at", direction: "desc" as const }],
    metadata_only: true,
    include_tags_and_aliases: true,
    limit: mostObjects,
  }
  const all = useObjectVersions({ ...list, filter: { latest_only: true } })
  const isWhole = (all.data?.length ?? 0) < mostObjects
  const filter = kind === null || isWhole ? null : filterOfKind(kind)
  // In a project with more names than that, each kind is requested by itself.
  const some = useObjectVersions({ ...list, filter: { latest_only: true, ...filter } }, filter !== null)
  const query = filter === null ? all : some
  /** While somebody types: the address follows a moment later. */
  const [typed, setTyped] = useState<string | null>(null)
  const mayWrite = useMayWrite(project.id)
  const [isImporting, setImporting] = useState(false)
  const isUnknown = query.error instanceof ApiError && query.error.isNotFound
  const ofKind = (query.data ?? []).filter((object) => kind === null || kindOfObject(object).id === kind)
  const shown = ofKind.filter(({ object_id: name }) => name.toLowerCase().includes(search.toLowerCase()))
  return (
    <div className={styles.page}>
      <PageBar
        title="Datasets & objects"
        actions={
          mayWrite && (
            <Button icon={Upload} onClick={() => setImporting(true)}>
              Import
            </Button>
          )
        }
        aside={all.data !== undefined && `${formatAtLeast(all.data.length, isWhole)} published under a name`}
      />
      <KindTabs
        project={project}
        objects={all.data ?? []}
        isWhole={isWhole}
        open={kind}
        tools={
          <TextField
            label="Find by name"
            isLabelHidden
            type="search"
            placeholder="Find by name"
            value={typed ?? search}
            onChange={({ target }) => {
              setTyped(target.value)
              onSearch(target.value)
            }}
            onBlur={() => setTyped(null)}
          />
        }
      />
      {isUnknown ? (
        <NoObjects project={project} kind={null} />
      ) : (
        <Loaded query={query} what="objects">
          {() =>
            ofKind.length === 0 ? (
              <NoObjects project={project} kind={kind} />
            ) : shown.length === 0 ? (
              <Empty title="No name matches">No name here has “{search}” in it.</Empty>
            ) : (
              <ObjectTable project={project} objects={shown} kind={kind} />
            )
          }
        </Loaded>
      )}
      {isImporting && <ImportDataset project={project} onClose={() => setImporting(false)} />}
    </div>
  )
}

interface ObjectTableProps {
  project: CurrentProject
  objects: readonly ObjectVersion[]
  kind: string | null
}

function ObjectTable({ project, objects, kind }: ObjectTableProps) {
  const navigate = kindRoute.useNavigate()
  const isNarrow = useMedia("(max-width: 699px)")
  const [current, setCurrent] = useState<number | null>(null)
  const rowCount = useRowCounts(project, kind === "datasets")
  return (
    <DataTable
      label={kind === null ? "Objects" : nameOfKind(kind)}
      name={isNarrow ? "objects-narrow" : "objects"}
      columns={objectColumns({ project, isNarrow, rowCount: kind === "datasets" ? rowCount : null })}
      count={objects.length}
      rowAt={(index) => objects[index]}
      idOf={({ kind: of, object_id: name }) => `${of}/${name}`}
      rowHeight={isNarrow ? 44 : 32}
      current={current}
      onCurrent={setCurrent}
      onOpen={(object) => void navigate(placeOf(project, object))}
    />
  )
}

/** How many rows the newest version of a dataset has, by its digest. The values of datasets are small: they name a table. */
function useRowCounts(project: CurrentProject, isEnabled: boolean): (digest: string) => string {
  const filter = { latest_only: true, ...filterOfKind("datasets") }
  const sort_by = [{ field: "created_at", direction: "desc" as const }]
  const datasets = useObjectVersions({ project_id: project.id, filter, sort_by, limit: mostObjects }, isEnabled)
  const tables = new Map(
    (datasets.data ?? []).flatMap(({ digest, val }) => {
      const table = tableOfDataset(val, project.id)
      return table === null ? [] : [[digest, table] as const]
    }),
  )
  const sizes = useTableSizes(project.id, [...new Set(tables.values())].toSorted())
  const counts = new Map(sizes.data?.tables.map(({ digest, count }) => [digest, count]))
  return (digest) => {
    const count = counts.get(tables.get(digest) ?? "")
    return count === undefined ? "" : formatCount(count)
  }
}

/** The artifacts of a project: models, datasets and tables that runs of the wandb client logged, and the checkpoints of models. */
import { getRouteApi } from "@tanstack/react-router"
import { useState } from "react"
import {
  clientsOwnTypes,
  type ListedCollection,
  useArtifactCollections,
  useArtifactTypes,
} from "../../../api/runs/artifacts.ts"
import { SelectField } from "../../../components/controls/field.tsx"
import type { Column } from "../../../components/data-table/columns.ts"
import { DataTable } from "../../../components/data-table/data-table.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { Empty } from "../../../components/states/empty.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { Code } from "../../../components/text/code.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { formatExact } from "../../../format/numbers.ts"
import { formatBytes } from "../../../format/sizes.ts"
import { type CurrentProject, useProjectOfPage } from "../../../shell/current-project.ts"
import { loggedName, LoggedList, NothingLogged } from "../training/logged-list.tsx"
import { MoreRows } from "../training/more-rows.tsx"
import { TrainingTabs } from "../training/training-tabs.tsx"
import { Aliases } from "./aliases.tsx"

const route = getRouteApi("/signed-in/$entity/$project/artifacts")
const rowHeight = 32
/** In the address, as a type: also what the client makes by itself. */
const everyType = "*"

export function ArtifactsPage() {
  const project = useProjectOfPage()
  const { type } = route.useSearch()
  const collections = useArtifactCollections(
    project.params,
    type === undefined ? "usual" : type === everyType ? "all" : { only: type },
  )
  const types = useArtifactTypes(project.params).data
  const isEmpty = collections.data?.length === 0 && type === undefined
  const hasTables = types?.some((one) => clientsOwnTypes.includes(one)) === true
  return (
    <>
      <PageBar title="Models & jobs" tab="Artifacts" />
      <TrainingTabs
        project={project}
        {...(isEmpty && !hasTables ? {} : { tools: <TypeFilter types={types ?? []} /> })}
      />
      <LoggedList>
        <Loaded query={collections} what="artifacts">
          {(rows) =>
            rows.length > 0 ? (
              <Table project={project} rows={rows} />
            ) : type === undefined ? (
              hasTables ? (
                <OnlyTables />
              ) : (
                <NoArtifacts />
              )
            ) : (
              <Empty title="No artifact fits">No artifact of this project has the type {type}.</Empty>
            )
          }
        </Loaded>
        <MoreRows what="artifacts" query={collections} />
      </LoggedList>
    </>
  )
}

function TypeFilter({ types }: { types: readonly string[] }) {
  const { type } = route.useSearch()
  const navigate = route.useNavigate()
  const shown = type === undefined || type === everyType || types.includes(type) ? types : [...types, type]
  const hasTables = shown.some((one) => clientsOwnTypes.includes(one))
  return (
    <SelectField
      label="Type"
      isLabelHidden
      value={type ?? ""}
      onChange={({ target }) => void navigate({ search: { type: target.value || undefined }, replace: true })}
    >
      <option value="">{hasTables ? "All but tables of runs" : "All types"}</option>
      {(hasTables || type === everyType) && <option value={everyType}>All types</option>}
      {shown.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </SelectField>
  )
}

function Table({ project, rows }: { project: CurrentProject; rows: readonly ListedCollection[] }) {
  const navigate = route.useNavigate()
  const [current, setCurrent] = useState<number | null>(null)
  return (
    <DataTable
      label="Artifacts"
      name="artifacts"
      columns={columnsOf(project)}
      count={rows.length}
      rowAt={(index) => rows[index]}
      idOf={({ name }) => name}
      rowHeight={rowHeight}
      current={current}
      onCurrent={setCurrent}
      onOpen={({ name }) =>
        void navigate({ to: "/$entity/$project/artifacts/$name", params: { ...project.params, name } })
      }
    />
  )
}

function columnsOf(project: CurrentProject): Column<ListedCollection>[] {
  return [
    {
      id: "name",
      title: "Artifact",
      width: 320,
      cell: ({ name }) => (
        <TextLink
          isQuiet
          className={loggedName}
          to="/$entity/$project/artifacts/$name"
          params={{ ...project.params, name }}
          title={name}
        >
          {name}
        </TextLink>
      ),
    },
    {
      id: "type",
      title: "Type",
      width: 110,
      cell: ({ type }) => (
        <TextLink
          isQuiet
          from="/$entity/$project/artifacts"
          to="."
          search={{ type }}
          title={`Only artifacts of the type ${type}`}
        >
          {type}
        </TextLink>
      ),
    },
    { id: "newest", title: "Newest", width: 70, cell: ({ newest }) => newest?.version ?? "–" },
    { id: "aliases", title: "Aliases", width: 180, cell: ({ newest }) => <Aliases of={newest?.aliases ?? []} /> },
    { id: "made", title: "Made", width: 92, cell: ({ newest }) => newest && <Time at={newest.createdAt} /> },
    {
      id: "files",
      title: "Files",
      width: 76,
      isNumber: true,
      cell: ({ newest }) => newest && formatExact(newest.fileCount),
    },
    {
      id: "size",
      title: "Size",
      width: 92,
      isNumber: true,
      cell: ({ newest }) => newest && formatBytes(newest.size),
    },
    {
      id: "versions",
      title: "Versions",
      width: 84,
      isNumber: true,
      cell: ({ versions }) => formatExact(versions),
    },
  ]
}

function OnlyTables() {
  return (
    <Empty title="Only tables of runs">
      <p>
        Runs have logged tables here, each of which the client keeps as an artifact too.{" "}
        <TextLink from="/$entity/$project/artifacts" to="." search={{ type: everyType }}>
          Show them
        </TextLink>
      </p>
    </Empty>
  )
}

const code = [
  'artifact = wandb.Artifact("checkpoint", type="model")',
  'artifact.add_dir("out")',
  "run.log_artifact(artifact)",
].join("\n")

function NoArtifacts() {
  return (
    <NothingLogged>
      <Empty title="No artifacts yet">
        Files that belong to a run are logged as an artifact, in versions. Checkpoints of models stand here too.
      </Empty>
      <Code label="Code for a first artifact" code={code} />
    </NothingLogged>
  )
}

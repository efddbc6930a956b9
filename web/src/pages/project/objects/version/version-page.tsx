/** One version of an object: its value or rows, what differs from another version, its labels, who uses it. */
import { getRouteApi } from "@tanstack/react-router"
import { ApiError } from "../../../../api/api-error.ts"
import { type ObjectVersion, useObjectVersion, useObjectVersions } from "../../../../api/objects/object-versions.ts"
import { CopyButton } from "../../../../components/controls/copy-button.tsx"
import { PageBar } from "../../../../components/layout/page-bar.tsx"
import { Tag } from "../../../../components/signs/tag.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { SkeletonRows } from "../../../../components/states/skeleton.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { tableOfDataset } from "../../../../objects/dataset-table.ts"
import { kindOfObject } from "../../../../objects/object-kinds.ts"
import { shortDigest } from "../../../../objects/object-refs.ts"
import { type CurrentProject, useProjectOfPage } from "../../../../shell/current-project.ts"
import { DatasetView } from "./dataset-view.tsx"
import { DownloadMenu } from "./download-menu.tsx"
import { Labels } from "./labels.tsx"
import { References } from "./references.tsx"
import { UsedBy } from "./used-by.tsx"
import { ValueView } from "./value-view.tsx"
import styles from "./version-page.module.css"
import { mostVersions, VersionRail } from "./version-rail.tsx"

const route = getRouteApi("/signed-in/$entity/$project/objects/$name/versions/$version")

export function VersionPage() {
  const project = useProjectOfPage()
  const { name, version } = route.useParams()
  return <OneObject key={`${project.id}/${name}`} project={project} name={name} version={version} />
}

function OneObject({ project, name, version }: { project: CurrentProject; name: string; version: string }) {
  const read = useObjectVersion({ project_id: project.id, object_id: name, digest: version })
  const listed = useObjectVersions({
    project_id: project.id,
    filter: { object_ids: [name] },
    sort_by: [{ field: "created_at", direction: "desc" }],
    metadata_only: true,
    include_tags_and_aliases: true,
    limit: mostVersions,
  })
  const shown = read.data
  // A name may be an op's and an object's.
  const versions = (listed.data ?? [])
    .filter(({ kind }) => kind === (shown?.kind ?? listed.data?.[0]?.kind))
    .toSorted((a, b) => b.version_index - a.version_index)
  const gone = read.error instanceof ApiError && read.error.isNotFound ? read.error : null
  const kind = shown === undefined ? null : kindOfObject(shown)
  const { params } = project
  return (
    <div className={styles.page}>
      <PageBar
        title={name}
        crumb={
          kind === null ? (
            <TextLink isQuiet to="/$entity/$project/objects" params={params}>
              Datasets & objects
            </TextLink>
          ) : (
            <TextLink isQuiet to="/$entity/$project/objects/$kind" params={{ ...params, kind: kind.id }}>
              {kind.name}
            </TextLink>
          )
        }
        aside={
          shown !== undefined &&
          kind !== null && (
            <span className={styles.aside}>
              <Tag>{kind.noun}</Tag>v{shown.version_index} <code title={shown.digest}>{shortDigest(shown.digest)}</code>
            </span>
          )
        }
        actions={
          shown !== undefined && (
            <>
              <span className={styles.wideOnly}>
                <CopyButton text={refOf(project, shown)} isWordy words="Copy ref" label="Copy ref: of this version" />
              </span>
              <DownloadMenu project={project} version={shown} isDataset={isDataset(project, shown)} />
            </>
          )
        }
      />
      {gone === null ? (
        <Loaded query={read} what="version">
          {(object) => (
            <>
              <Labels project={project} version={object} versions={versions} />
              {listed.error !== null && (
                <div className={styles.error}>
                  <ErrorNote
                    what="The other versions could not be read."
                    error={listed.error}
                    onRetry={() => void listed.refetch()}
                  />
                </div>
              )}
              <div className={styles.parts}>
                <VersionRail
                  project={project}
                  name={name}
                  versions={versions}
                  isReading={listed.isPending}
                  shown={object}
                >
                  <UsedBy project={project} version={object} refText={refOf(project, object)} />
                  <References val={object.val} />
                </VersionRail>
                {/* What it is compared with is not known before. */}
                {listed.isPending ? (
                  <div className={styles.waiting}>
                    <SkeletonRows what="Reading versions" rows={12} />
                  </div>
                ) : (
                  <Content key={object.digest} project={project} version={object} versions={versions} />
                )}
              </div>
            </>
          )}
        </Loaded>
      ) : (
        <Gone project={project} name={name} error={gone} versions={versions} />
      )}
    </div>
  )
}

interface ContentProps {
  project: CurrentProject
  version: ObjectVersion
  versions: readonly ObjectVersion[]
}

function Content({ project, version, versions }: ContentProps) {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (next: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true })
  const others = versions.filter(({ digest }) => digest !== version.digest)
  const before = others.find(({ version_index: index }) => index < version.version_index)
  const requested = others.find(({ version_index: index }) => `v${index}` === search.against)
  const shared = { project, version, others, against: requested ?? before, search, onChange: change }
  const table = tableOfDataset(version.val, project.id)
  return isDataset(project, version) && table !== null ? (
    <DatasetView {...shared} table={table} />
  ) : (
    <ValueView {...shared} />
  )
}

interface GoneProps extends Omit<ContentProps, "version"> {
  name: string
  error: ApiError
}

/** The address names what is not there, or is not there any more; a ref to it is answered with the same. */
function Gone({ project, name, error, versions: [newest] }: GoneProps) {
  const { params } = project
  return (
    <Empty title={error.code === "ObjectDeletedError" ? "This version was deleted" : "No such version"}>
      <p>{error.message}.</p>
      {newest === undefined ? (
        <TextLink to="/$entity/$project/objects" params={params}>
          All objects
        </TextLink>
      ) : (
        <TextLink
          to="/$entity/$project/objects/$name/versions/$version"
          params={{ ...params, name, version: `v${newest.version_index}` }}
        >
          The newest version, v{newest.version_index}
        </TextLink>
      )}
    </Empty>
  )
}

function isDataset(project: CurrentProject, { base_object_class: base, val }: ObjectVersion): boolean {
  return base === "Dataset" && tableOfDataset(val, project.id) !== null
}

function refOf(project: CurrentProject, { kind, object_id: name, digest }: ObjectVersion): string {
  return `weave:///${project.id}/${kind}/${name}:${digest}`
}

/** One artifact: its versions, and of the one in hand what it is, where it comes from and its files. */
import { getRouteApi } from "@tanstack/react-router"
import { type ArtifactVersion, type CollectionVersions, useArtifactVersions } from "../../../../api/runs/artifacts.ts"
import { CopyButton } from "../../../../components/controls/copy-button.tsx"
import { PageBar } from "../../../../components/layout/page-bar.tsx"
import { PaneHead } from "../../../../components/layout/pane.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Split } from "../../../../components/layout/split.tsx"
import { Tag } from "../../../../components/signs/tag.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { counted } from "../../../../format/counted.ts"
import { formatBytes } from "../../../../format/sizes.ts"
import { type CurrentProject, useProjectOfPage } from "../../../../shell/current-project.ts"
import { MoreRows } from "../../training/more-rows.tsx"
import { Aliases } from "../aliases.tsx"
import styles from "./artifact-page.module.css"
import { VersionFacts } from "./version-facts.tsx"

const route = getRouteApi("/signed-in/$entity/$project/artifacts/$name")

export function ArtifactPage() {
  const project = useProjectOfPage()
  const { name } = route.useParams()
  // Another artifact is another page: nothing of the first stays.
  return <ArtifactOfName key={`${project.id}/${name}`} project={project} name={name} />
}

function ArtifactOfName({ project, name }: { project: CurrentProject; name: string }) {
  const query = useArtifactVersions(project.params, name)
  const { v } = route.useSearch()
  const found = query.data
  const inHand = found && versionInHand(found, v)
  return (
    <>
      <PageBar
        title={name}
        crumb={
          <TextLink isQuiet to="/$entity/$project/artifacts" params={project.params}>
            Artifacts
          </TextLink>
        }
        aside={found && <Tag>{found.type}</Tag>}
        actions={
          inHand && (
            <CopyButton
              text={`${project.id}/${name}:${inHand}`}
              isWordy
              words="Copy path"
              label="Copy path: the one that wandb.Api().artifact knows"
            />
          )
        }
      />
      <Loaded query={query} what="versions">
        {(of) =>
          of === null ? (
            <NoSuchArtifact name={name} project={project} />
          ) : (
            <Split
              label="Width of the versions"
              name="artifact"
              start={40}
              first={
                <div className={styles.versions}>
                  {of.description && <p className={styles.description}>{of.description}</p>}
                  <Versions name={name} project={project} of={of} inHand={inHand ?? null} />
                  <MoreRows what="versions" query={query} />
                </div>
              }
              second={
                inHand == null ? (
                  <Empty title="No versions">Every version of it was deleted.</Empty>
                ) : (
                  <VersionFacts
                    key={inHand}
                    project={project}
                    name={name}
                    version={inHand}
                    listed={of.versions.find(({ version }) => version === inHand)}
                  />
                )
              }
            />
          )
        }
      </Loaded>
    </>
  )
}

/** The one that the address names by its number or by an alias; else the newest. null: there is none. */
function versionInHand({ versions }: CollectionVersions, named: string | undefined): string | null {
  if (named === undefined) return versions[0]?.version ?? null
  return versions.find(({ aliases }) => aliases.includes(named))?.version ?? named
}

const heads = [
  { name: "Version", className: styles.version },
  { name: "Aliases" },
  { name: "Made", className: styles.made },
  { name: "Size", className: styles.size },
]

interface VersionsProps {
  name: string
  project: CurrentProject
  of: CollectionVersions
  inHand: string | null
}

function Versions({ name, project, of, inHand }: VersionsProps) {
  return (
    <section aria-label="Versions">
      <PaneHead title="Versions" note={counted(of.count, "version")} />
      <PlainTable label="Versions" heads={heads}>
        {of.versions.map((one) => (
          <VersionRow key={one.version} name={name} project={project} one={one} isInHand={one.version === inHand} />
        ))}
      </PlainTable>
    </section>
  )
}

interface VersionRowProps {
  name: string
  project: CurrentProject
  one: ArtifactVersion
  isInHand: boolean
}

function VersionRow({ name, project, one, isInHand }: VersionRowProps) {
  return (
    <tr className={isInHand ? styles.inHand : undefined} aria-current={isInHand || undefined}>
      <td className={styles.version}>
        <TextLink
          to="/$entity/$project/artifacts/$name"
          params={{ ...project.params, name }}
          search={{ v: one.version }}
          replace
        >
          {one.version}
        </TextLink>
      </td>
      <td>
        <Aliases of={one.aliases} />
      </td>
      <td className={styles.made}>
        <Time at={one.createdAt} />
      </td>
      <td className={styles.size}>{formatBytes(one.size)}</td>
    </tr>
  )
}

function NoSuchArtifact({ name, project }: { name: string; project: CurrentProject }) {
  return (
    <Empty title="No such artifact">
      <p>
        There is no artifact <code>{name}</code> in {project.id}: it was deleted or never made.{" "}
        <TextLink to="/$entity/$project/artifacts" params={project.params}>
          All artifacts
        </TextLink>
      </p>
    </Empty>
  )
}

/** What one version of an artifact is: where it comes from, what used it, its metadata and its files. */
import {
  type ArtifactFacts,
  type ArtifactVersion,
  type NamedRun,
  useArtifactFacts,
  useArtifactFiles,
} from "../../../../api/runs/artifacts.ts"
import { addressOf } from "../../../../base-path.ts"
import { JsonViewer } from "../../../../components/json/json-viewer.tsx"
import { KeyValue, KeyValues } from "../../../../components/layout/key-values.tsx"
import { PaneHead } from "../../../../components/layout/pane.tsx"
import { Tag } from "../../../../components/signs/tag.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { Empty } from "../../../../components/states/empty.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { formatDuration } from "../../../../format/durations.ts"
import { formatBytes } from "../../../../format/sizes.ts"
import { memberTexts } from "../../../../json/json-text.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { FilesSection } from "../../files/files-section.tsx"
import { readableJson } from "../../runs/run-values.ts"
import { Aliases } from "../aliases.tsx"
import styles from "./version-facts.module.css"

interface VersionFactsProps {
  project: CurrentProject
  name: string
  /** "v3" */
  version: string
  /** undefined: it is not among those that are listed so far. */
  listed: ArtifactVersion | undefined
}

const metadataHeight = 240

export function VersionFacts({ project, name, version, listed }: VersionFactsProps) {
  const full = `${name}:${version}`
  const query = useArtifactFacts(project.params, full)
  return (
    // The keyboard must reach what scrolls.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <div className={styles.facts} tabIndex={0} role="region" aria-label={`About ${full}`}>
      <Loaded query={query} what="version">
        {(facts) =>
          facts === null ? (
            <Empty title="No such version">
              There is no version <code>{version}</code> of {name}: it was deleted or never made.
            </Empty>
          ) : (
            <>
              <section aria-label="Version">
                <PaneHead title="Version" note={version} />
                <div className={styles.values}>
                  <Values facts={facts} listed={listed} />
                </div>
              </section>
              <Metadata text={facts.metadata} />
              <VersionFiles project={project} name={full} count={listed?.fileCount ?? 0} />
            </>
          )
        }
      </Loaded>
    </div>
  )
}

function Values({ facts, listed }: { facts: ArtifactFacts; listed: ArtifactVersion | undefined }) {
  const { createdBy, usedBy, tags, ttlDurationSeconds: ttl } = facts
  return (
    <KeyValues>
      {listed !== undefined && (
        <>
          <KeyValue name="Made">
            <Time at={listed.createdAt} />
          </KeyValue>
          {listed.aliases.length > 0 && (
            <KeyValue name="Aliases">
              <Aliases of={listed.aliases} />
            </KeyValue>
          )}
          <KeyValue name="Size">{formatBytes(listed.size)}</KeyValue>
        </>
      )}
      {createdBy?.name !== undefined && createdBy.project !== undefined && (
        <KeyValue name="Made by">
          <RunLink run={{ name: createdBy.name, project: createdBy.project }} />
        </KeyValue>
      )}
      {usedBy.edges.length > 0 && (
        <KeyValue name="Used by">
          <span className={styles.runs}>
            {usedBy.edges.map(({ node }) => (
              <RunLink key={`${node.project.entityName}/${node.project.name}/${node.name}`} run={node} />
            ))}
          </span>
        </KeyValue>
      )}
      {tags.length > 0 && (
        <KeyValue name="Tags">
          <span className={styles.runs}>
            {tags.map((tag) => (
              <Tag key={tag.name}>{tag.name}</Tag>
            ))}
          </span>
        </KeyValue>
      )}
      {facts.description && <KeyValue name="Description">{facts.description}</KeyValue>}
      {ttl > 0 && <KeyValue name="Goes after">{formatDuration(ttl * 1000)}</KeyValue>}
      <KeyValue name="Digest">
        <code>{facts.digest}</code>
      </KeyValue>
    </KeyValues>
  )
}

function RunLink({ run: { name, project } }: { run: NamedRun }) {
  return (
    <TextLink
      to="/$entity/$project/runs/$name"
      params={{ entity: project.entityName, project: project.name, name }}
      title={`${project.entityName}/${project.name}/${name}`}
    >
      {name}
    </TextLink>
  )
}

function Metadata({ text }: { text: string | null }) {
  const readable = text === null ? "" : readableJson(text)
  if (!readable.startsWith("{") || memberTexts(readable).size === 0) return null
  return (
    <section aria-label="Metadata">
      <PaneHead title="Metadata" />
      <div className={styles.metadata}>
        <JsonViewer label="Metadata" text={readable} height={metadataHeight} />
      </div>
    </section>
  )
}

/** `name`: with the version, as `checkpoint:v3`. */
function VersionFiles({ project, name, count }: { project: CurrentProject; name: string; count: number }) {
  return (
    <FilesSection
      label={`Files of ${name}`}
      query={useArtifactFiles(project.params, name)}
      count={count}
      none="The version has no files."
      placeOf={({ storagePath, url }) =>
        url.endsWith(storagePath) ? { address: addressOf(`/${storagePath}`) } : { elsewhere: url }
      }
    />
  )
}

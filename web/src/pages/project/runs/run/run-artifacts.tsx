/** The artifacts that a run made, and those that it used. */
import { type RunArtifact, useRunArtifacts } from "../../../../api/runs/artifacts.ts"
import type { OfRun } from "../../../../api/runs/runs.ts"
import { PaneHead } from "../../../../components/layout/pane.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { counted } from "../../../../format/counted.ts"
import { formatBytes } from "../../../../format/sizes.ts"
import styles from "./run-artifacts.module.css"

const heads = [
  { name: "Artifact", className: styles.name },
  { name: "Type", className: styles.type },
  { name: "Size", className: styles.size },
]

export function RunArtifacts({ of, heardAt }: { of: OfRun; heardAt: string }) {
  const query = useRunArtifacts(of, heardAt)
  const isNone = query.data != null && [query.data.outputArtifacts, query.data.inputArtifacts].every(isEmpty)
  if (isNone) return null
  return (
    <Loaded query={query} what="artifacts">
      {(found) => (
        <>
          <Section title="Artifacts" label="Artifacts that the run made" artifacts={found?.outputArtifacts} />
          <Section title="Artifacts used" label="Artifacts that the run used" artifacts={found?.inputArtifacts} />
        </>
      )}
    </Loaded>
  )
}

interface Some {
  totalCount: number
  edges: { node: RunArtifact }[]
}

const isEmpty = ({ edges }: Some) => edges.length === 0

function Section({ title, label, artifacts }: { title: string; label: string; artifacts: Some | undefined }) {
  if (artifacts === undefined || isEmpty(artifacts)) return null
  const { totalCount: count, edges } = artifacts
  const left = count - edges.length
  return (
    <section aria-label={title}>
      <PaneHead title={title} note={counted(count, "version")} />
      <PlainTable label={label} heads={heads} isHeadHidden>
        {edges.map(({ node }) => (
          <Row key={`${node.artifactSequence.name}:${node.versionIndex}`} artifact={node} />
        ))}
      </PlainTable>
      {left > 0 && <p className={styles.none}>{counted(left, "more version")}: see the artifacts of the project.</p>}
    </section>
  )
}

function Row({ artifact: { versionIndex, size, artifactType, artifactSequence } }: { artifact: RunArtifact }) {
  const { name, project } = artifactSequence
  const version = `v${versionIndex}`
  return (
    <tr>
      <td className={styles.name} title={`${name}:${version}`}>
        <TextLink
          to="/$entity/$project/artifacts/$name"
          params={{ entity: project.entityName, project: project.name, name }}
          search={{ v: version }}
        >
          {name}:{version}
        </TextLink>
      </td>
      <td className={styles.type}>{artifactType.name}</td>
      <td className={styles.size}>{formatBytes(size)}</td>
    </tr>
  )
}

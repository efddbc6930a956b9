/** The files of a version, and the addresses of what it only refers to. */
import { type ArtifactFile, useArtifactFiles } from "../../../../api/runs/artifacts.ts"
import { addressOf } from "../../../../base-path.ts"
import { PaneHead } from "../../../../components/layout/pane.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { counted } from "../../../../format/counted.ts"
import { formatBytes } from "../../../../format/sizes.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { MoreRows } from "../../training/more-rows.tsx"
import styles from "./artifact-files.module.css"

const heads = [
  { name: "File", className: styles.file },
  { name: "Size", className: styles.size },
]

interface ArtifactFilesProps {
  project: CurrentProject
  /** With the version, as `checkpoint:v3`. */
  name: string
  count: number | undefined
}

export function ArtifactFiles({ project, name, count }: ArtifactFilesProps) {
  const files = useArtifactFiles(project.params, name)
  return (
    <section aria-label="Files">
      <PaneHead title="Files" note={count === undefined || count === 0 ? undefined : counted(count, "file")} />
      <Loaded query={files} what="files">
        {(rows) =>
          rows.length === 0 ? (
            <p className={styles.none}>The version has no files.</p>
          ) : (
            <PlainTable label={`Files of ${name}`} heads={heads} isHeadHidden>
              {rows.map((file) => (
                <tr key={file.name}>
                  <td className={styles.file} title={file.name}>
                    <FileName file={file} />
                  </td>
                  <td className={styles.size}>{formatBytes(file.sizeBytes)}</td>
                </tr>
              ))}
            </PlainTable>
          )
        }
      </Loaded>
      <MoreRows what="files" query={files} />
    </section>
  )
}

/** What it only refers to lies elsewhere: its address is named, and nothing leads there. */
function FileName({ file: { name, storagePath, url } }: { file: ArtifactFile }) {
  if (!url.endsWith(storagePath)) {
    return (
      <>
        {name} <span className={styles.reference}>at {url}</span>
      </>
    )
  }
  return (
    <a href={addressOf(`/${storagePath}`)} download={name.split("/").at(-1)}>
      {name}
    </a>
  )
}

/** Files of a run: those that the client stores when it ends, and what the program saved. */
import { fileAddress } from "../../../../api/files.ts"
import { type OfRun, useRunFiles } from "../../../../api/runs/runs.ts"
import { PaneHead } from "../../../../components/layout/pane.tsx"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { counted } from "../../../../format/counted.ts"
import { formatBytes } from "../../../../format/sizes.ts"
import { MoreRows } from "../../training/more-rows.tsx"
import styles from "./run-files.module.css"

const heads = [
  { name: "File", className: styles.file },
  { name: "Size", className: styles.size },
]

export function RunFiles({ of, count }: { of: OfRun; count: number }) {
  const files = useRunFiles(of, count)
  return (
    <section aria-label="Files">
      <PaneHead title="Files" note={count === 0 ? undefined : counted(count, "file")} />
      <Loaded query={files} what="files">
        {(rows) =>
          rows.length === 0 ? (
            <p className={styles.none}>The client stores files when the run ends.</p>
          ) : (
            <PlainTable label="Files of the run" heads={heads} isHeadHidden>
              {rows.map(({ name, sizeBytes }) => (
                <tr key={name}>
                  <td className={styles.file} title={name}>
                    <a href={fileAddress({ run: of, path: name }, {})} download={name.split("/").at(-1)}>
                      {name}
                    </a>
                  </td>
                  <td className={styles.size}>{formatBytes(sizeBytes)}</td>
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

/** Files that runs and artifacts hold: each is saved under its name. */
import type { UseQueryResult } from "@tanstack/react-query"
import { PaneHead } from "../../../components/layout/pane.tsx"
import { PlainTable } from "../../../components/layout/plain-table.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { counted } from "../../../format/counted.ts"
import { formatBytes } from "../../../format/sizes.ts"
import { MoreRows } from "../training/more-rows.tsx"
import styles from "./files-section.module.css"

interface NamedFile {
  name: string
  sizeBytes: number
}

interface FilesSectionProps<File extends NamedFile> {
  /** Of the table, for readers. */
  label: string
  /** Page after page. */
  query: Pick<UseQueryResult<File[]>, "data" | "error"> & {
    refetch: () => unknown
    hasNextPage: boolean
    isFetchingNextPage: boolean
    fetchNextPage: () => unknown
  }
  count: number
  /** While there is none. */
  none: string
  /** Where a file is fetched, or the words of where else it lies: nothing leads there. */
  placeOf: (file: File) => { address: string } | { elsewhere: string }
}

const heads = [
  { name: "File", className: styles.file },
  { name: "Size", className: styles.size },
]

export function FilesSection<File extends NamedFile>({ label, query, count, none, placeOf }: FilesSectionProps<File>) {
  return (
    <section aria-label="Files">
      <PaneHead title="Files" note={count === 0 ? undefined : counted(count, "file")} />
      <Loaded query={query} what="files">
        {(files) =>
          files.length === 0 ? (
            <p className={styles.none}>{none}</p>
          ) : (
            <PlainTable label={label} heads={heads} isHeadHidden>
              {files.map((file) => (
                <tr key={file.name}>
                  <td className={styles.file} title={file.name}>
                    <FileName name={file.name} place={placeOf(file)} />
                  </td>
                  <td className={styles.size}>{formatBytes(file.sizeBytes)}</td>
                </tr>
              ))}
            </PlainTable>
          )
        }
      </Loaded>
      <MoreRows what="files" query={query} />
    </section>
  )
}

function FileName({ name, place }: { name: string; place: { address: string } | { elsewhere: string } }) {
  if ("elsewhere" in place) {
    return (
      <>
        {name} <span className={styles.elsewhere}>at {place.elsewhere}</span>
      </>
    )
  }
  return (
    <a href={place.address} download={name.split("/").at(-1)}>
      {name}
    </a>
  )
}

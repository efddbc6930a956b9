/** A version as a file: rows of a dataset in three formats, any other value as JSON. */
import { Download } from "lucide-react"
import { useState } from "react"
import type { ObjectVersion } from "../../../../api/objects/object-versions.ts"
import { downloadDataset, type FileFormat } from "../../../../api/objects/tables.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { Dialog } from "../../../../components/layers/dialog.tsx"
import { Menu, MenuItem } from "../../../../components/layers/menu.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import styles from "./download-menu.module.css"

interface DownloadMenuProps {
  project: CurrentProject
  version: ObjectVersion
  isDataset: boolean
}

const formats: readonly { format: FileFormat; name: string; note: string }[] = [
  { format: "csv", name: "CSV", note: "spreadsheets" },
  { format: "jsonl", name: "JSON Lines", note: "as published" },
  { format: "parquet", name: "Parquet", note: "typed columns" },
]

export function DownloadMenu({ project, version, isDataset }: DownloadMenuProps) {
  const [failure, setFailure] = useState<Error | null>(null)
  const { object_id: name, version_index: index, digest, val } = version
  const download = async (format: FileFormat) => {
    try {
      const file = await downloadDataset({ project_id: project.id, object_id: name, digest, format })
      save(file, `${name}-v${index}.${format}`)
    } catch (error) {
      setFailure(error as Error)
    }
  }
  if (!isDataset) {
    const json = () => save(new Blob([val], { type: "application/json" }), `${name}-v${index}.json`)
    return (
      <Button icon={Download} onClick={json}>
        Download
      </Button>
    )
  }
  return (
    <>
      <Menu
        icon={Download}
        items={formats.map(({ format, name: words, note }) => (
          <MenuItem key={format} note={note} onAction={() => void download(format)}>
            {words}
          </MenuItem>
        ))}
      >
        Download
      </Menu>
      {failure !== null && (
        <Dialog title={`Download ${name} v${index}`} isOpen onClose={() => setFailure(null)} width={440}>
          <div className={styles.failure}>
            <ErrorNote what="The rows could not be downloaded." error={failure} />
          </div>
        </Dialog>
      )}
    </>
  )
}

function save(content: Blob, name: string): void {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

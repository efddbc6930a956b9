/** A file as a version of a dataset: what its columns are is shown before it is stored. */
import { useNavigate } from "@tanstack/react-router"
import { type FormEvent, useState } from "react"
import { type FileFormat, useImportDataset } from "../../../api/objects/tables.ts"
import { Button } from "../../../components/controls/button.tsx"
import { TextField } from "../../../components/controls/field.tsx"
import { Dialog } from "../../../components/layers/dialog.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { Note } from "../../../components/states/note.tsx"
import { nounOf } from "../../../format/counted.ts"
import { formatExact } from "../../../format/numbers.ts"
import { formatBytes } from "../../../format/sizes.ts"
import { type FilePreview, previewCsv, previewLines } from "../../../objects/file-preview.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { useWhileShown } from "../../../url/use-while-shown.ts"
import { FileColumns } from "./file-columns.tsx"
import styles from "./import-dataset.module.css"

interface Chosen {
  file: File
  format: FileFormat
  /** null: a Parquet file carries its types itself. */
  preview: FilePreview | null
}

/** Longer files are previewed by their beginning. */
const previewBytes = 512 * 1024
const mostErrors = 5

export function ImportDataset({ project, onClose }: { project: CurrentProject; onClose: () => void }) {
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const [name, setName] = useState("")
  const navigate = useNavigate()
  const whileShown = useWhileShown()
  const store = useImportDataset()
  const choose = async (file: File | undefined) => {
    store.reset()
    if (file === undefined) return setChosen(null)
    setChosen(await lookAt(file))
    if (name === "") setName(file.name.replace(/\.\w+$/, ""))
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (chosen === null) return
    store.mutate(
      { project_id: project.id, name: name.trim(), format: chosen.format, file: chosen.file },
      {
        onSuccess: ({ object_id: object, version_index: index }) => {
          if (object === null) return
          const params = { ...project.params, name: object, version: `v${index}` }
          void whileShown(() => navigate({ to: "/$entity/$project/objects/$name/versions/$version", params }))
        },
      },
    )
  }
  const problem = chosen?.preview?.problem ?? null
  return (
    <Dialog title="Import a dataset" isOpen onClose={onClose} width={640} isForm>
      <form className={styles.form} onSubmit={submit}>
        <TextField
          label="File"
          type="file"
          accept=".csv,.jsonl,.ndjson,.parquet"
          hint="CSV with the names of columns in its first line, JSON Lines or Parquet."
          onChange={(event) => void choose(event.target.files?.[0])}
        />
        {chosen !== null && (
          <>
            <p className={styles.file}>
              {formatBytes(chosen.file.size)},{" "}
              {chosen.preview === null
                ? "with types of its own"
                : `${formatExact(chosen.preview.rows.length)} ${nounOf(chosen.preview.rows.length, "row")} looked at`}
            </p>
            {problem !== null && <Note kind="bad" title="The file cannot be read.">{`${problem}.`}</Note>}
            {problem === null && chosen.preview !== null && <FileColumns rows={chosen.preview.rows} />}
          </>
        )}
        <TextField
          label="Name"
          value={name}
          onChange={(event) => setName(event.target.value)}
          hint="A dataset of this name gets a new version; the versions before stay as they are."
        />
        {store.data !== undefined && store.data.failed > 0 && (
          <Note
            kind="bad"
            title={`Nothing was stored: ${formatExact(store.data.failed)} ${nounOf(store.data.failed, "row")} cannot be read.`}
          >
            <ul>
              {store.data.errors.slice(0, mostErrors).map(({ row, column, message }) => (
                <li key={`${row} ${column}`}>
                  row {row}
                  {column !== null && `, ${column}`}: {message}
                </li>
              ))}
            </ul>
          </Note>
        )}
        {store.error !== null && <ErrorNote what="Nothing was stored." error={store.error} />}
        <div className={styles.actions}>
          <Button onClick={onClose}>Leave it</Button>
          <Button
            kind="primary"
            type="submit"
            disabled={chosen === null || problem !== null || name.trim() === "" || store.isPending}
          >
            {store.isPending ? "Importing…" : name.trim() === "" ? "Import" : `Import as ${name.trim()}`}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

async function lookAt(file: File): Promise<Chosen> {
  const ending = /\.(\w+)$/.exec(file.name)?.[1]?.toLowerCase()
  if (ending === "parquet") return { file, format: "parquet", preview: null }
  const text = await file.slice(0, previewBytes).text()
  const isCut = file.size > previewBytes
  return ending === "csv"
    ? { file, format: "csv", preview: previewCsv(text, isCut) }
    : { file, format: "jsonl", preview: previewLines(text, isCut) }
}

/** At the foot of the table: how many calls are selected, and what can be done with them. */
import { Download } from "lucide-react"
import { type ReactNode, useState } from "react"
import { downloadCalls } from "../../../api/call-pages.ts"
import { Button } from "../../../components/controls/button.tsx"
import { CopyButton } from "../../../components/controls/copy-button.tsx"
import { saveFile } from "../../../components/controls/save-file.ts"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { formatCount } from "../../../format/numbers.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import styles from "./selection-bar.module.css"

interface SelectionBarProps {
  project: CurrentProject
  /** Ids of calls. */
  picked: readonly string[]
  onClear: () => void
  /** What is said while nothing is selected. */
  note: ReactNode
}

/** The API takes so many ids in one request. */
const mostDownloaded = 1000

export function SelectionBar({ project, picked, onClear, note }: SelectionBarProps) {
  const [failure, setFailure] = useState<Error | null>(null)
  const download = async () => {
    setFailure(null)
    try {
      saveFile(await downloadCalls(project.id, picked), `${project.project}-calls.jsonl`)
    } catch (error) {
      setFailure(error as Error)
    }
  }
  if (picked.length === 0) return <div className={styles.bar}>{note}</div>
  return (
    <div className={styles.bar}>
      <b>{formatCount(picked.length)} selected</b>
      <Button size="small" kind="quiet" keys="Escape" onClick={onClear}>
        Clear
      </Button>
      {failure !== null && <ErrorNote what="The calls could not be downloaded." error={failure} />}
      <span className={styles.actions}>
        Ids <CopyButton text={picked.join("\n")} label="Copy the ids of the selected calls" isWordy />
        <Button
          icon={Download}
          onClick={() => void download()}
          disabled={picked.length > mostDownloaded}
          title={picked.length > mostDownloaded ? `At most ${mostDownloaded} at once` : undefined}
        >
          Download JSONL
        </Button>
      </span>
    </div>
  )
}

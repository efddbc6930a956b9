/** One row of a dataset as a whole, as a draft changes it, and the ways to change it. */
import { Pencil, Trash2, Undo2, X } from "lucide-react"
import { useState } from "react"
import type { TextRow } from "../../../../api/objects/tables.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { JsonViewer } from "../../../../components/json/json-viewer.tsx"
import { Pane } from "../../../../components/layout/pane.tsx"
import { Tag } from "../../../../components/signs/tag.tsx"
import { SkeletonRows } from "../../../../components/states/skeleton.tsx"
import { formatExact } from "../../../../format/numbers.ts"
import type { JsonText } from "../../../../json/json-text.ts"
import { refsIn } from "../../../../objects/object-refs.ts"
import { MediaStrip } from "../../media/media-strip.tsx"
import styles from "./dataset-rows.module.css"
import { RailList } from "./rail-section.tsx"
import { RefLink } from "./ref-link.tsx"
import { RowDialog } from "./row-dialog.tsx"
import type { DraftOfVersion, RowState } from "./use-dataset-draft.ts"

/** A row as it is in the draft; without a state: as in the table. */
export type DraftRow = TextRow & { state?: RowState }

interface RowInHandProps {
  project: string
  row: DraftRow | undefined
  /** As it is in the table; undefined for one that is added. */
  stored: JsonText | undefined
  /** null: nothing can be changed. */
  draft: DraftOfVersion | null
  onClose: () => void
}

export function RowInHand({ project, row, stored, draft, onClose }: RowInHandProps) {
  const [isChanging, setChanging] = useState(false)
  const refs = row === undefined ? [] : refsIn(row.val)
  const shown = row?.state === undefined ? row?.digest : row.val
  return (
    <Pane
      title={row === undefined ? "Row" : `Row ${formatExact(row.original_index)}`}
      note={row?.state !== undefined && <RowMark of={row.state} />}
      tools={
        <>
          {row !== undefined && draft !== null && (
            <RowTools row={row} draft={draft} onChange={() => setChanging(true)} onGone={onClose} />
          )}
          <Button size="small" kind="quiet" icon={X} aria-label="Close the row" onClick={onClose} />
        </>
      }
    >
      {row === undefined ? (
        <SkeletonRows what="Reading the row" rows={6} />
      ) : (
        <>
          {refs.length > 0 && (
            <div className={styles.refs}>
              <RailList>
                {refs.map((ref) => (
                  <li key={ref.text}>
                    <RefLink of={ref} />
                  </li>
                ))}
              </RailList>
            </div>
          )}
          <MediaStrip key={`media ${shown}`} project={project} label="Row" text={row.val} />
          <JsonViewer key={shown} label="The row" text={row.val} height={480} />
          {isChanging && draft !== null && (
            <RowDialog
              title={`Change row ${formatExact(row.original_index)}`}
              text={row.val}
              onTake={(text) => draft.put(row.original_index, text, stored)}
              onClose={() => setChanging(false)}
            />
          )}
        </>
      )}
    </Pane>
  )
}

interface RowToolsProps {
  row: DraftRow
  draft: DraftOfVersion
  onChange: () => void
  /** An added row was forgotten. */
  onGone: () => void
}

function RowTools({ row: { original_index: place, state }, draft, onChange, onGone }: RowToolsProps) {
  const isInTable = state !== "added"
  return (
    <>
      {isInTable && state !== undefined && (
        <Button size="small" kind="quiet" icon={Undo2} onClick={() => draft.putBack(place)}>
          As it was
        </Button>
      )}
      {state !== "removed" && (
        <>
          <Button size="small" kind="quiet" icon={Pencil} onClick={onChange}>
            Change
          </Button>
          <Button
            size="small"
            kind="quiet"
            icon={Trash2}
            onClick={() => {
              draft.remove(place)
              if (!isInTable) onGone()
            }}
          >
            Remove
          </Button>
        </>
      )}
    </>
  )
}

const marks = {
  changed: { kind: "warn", word: "changed" },
  removed: { kind: "bad", word: "removed" },
  added: { kind: "good", word: "added" },
} as const

export function RowMark({ of }: { of: RowState }) {
  return <Tag kind={marks[of].kind}>{marks[of].word}</Tag>
}

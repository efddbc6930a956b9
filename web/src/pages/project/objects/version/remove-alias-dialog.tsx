/** Takes an alias off a version, after a question: whoever asks for it gets nothing from then on. */
import type { ObjectVersion } from "../../../../api/object-versions.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { Dialog } from "../../../../components/layers/dialog.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import styles from "./label-dialog.module.css"

interface RemoveAliasDialogProps {
  version: ObjectVersion
  alias: string
  error: Error | null
  isPending: boolean
  onRemove: () => void
  onClose: () => void
}

export function RemoveAliasDialog({ version, alias, error, isPending, onRemove, onClose }: RemoveAliasDialogProps) {
  const { object_id: name, version_index: index } = version
  return (
    <Dialog title={`Take ${alias} off v${index}?`} isOpen onClose={onClose} width={440}>
      <div className={styles.form}>
        <p>
          {name}:{alias} names no version from then on: whoever asks for it gets an error.
        </p>
        {error !== null && <ErrorNote what="The alias is still there." error={error} />}
        <div className={styles.actions}>
          <Button onClick={onClose}>Leave it</Button>
          <Button kind="danger" disabled={isPending} onClick={onRemove}>
            Take {alias} off v{index}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

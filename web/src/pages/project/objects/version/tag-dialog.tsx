/** Adds a tag to a version. */
import { type FormEvent, useState } from "react"
import type { ObjectVersion } from "../../../../api/object-versions.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { TextField } from "../../../../components/controls/field.tsx"
import { Dialog } from "../../../../components/layers/dialog.tsx"
import styles from "./label-dialog.module.css"

interface TagDialogProps {
  version: ObjectVersion
  error: Error | null
  isPending: boolean
  onAdd: (tag: string) => void
  onClose: () => void
}

export function TagDialog({ version, error, isPending, onAdd, onClose }: TagDialogProps) {
  const [tag, setTag] = useState("")
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onAdd(tag.trim())
  }
  return (
    <Dialog title={`Tag ${version.object_id} v${version.version_index}`} isOpen onClose={onClose} width={400}>
      <form className={styles.form} onSubmit={submit}>
        <TextField
          label="Tag"
          autoFocus
          value={tag}
          onChange={(event) => setTag(event.target.value)}
          hint="Letters, digits, - and _, with single spaces between words. Several versions may have the same."
          error={error?.message}
        />
        <div className={styles.actions}>
          <Button onClick={onClose}>Leave it</Button>
          <Button kind="primary" type="submit" disabled={tag.trim() === "" || isPending}>
            Add the tag
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** Adds a tag to a version. */
import { useState } from "react"
import type { ObjectVersion } from "../../../../api/objects/object-versions.ts"
import { TextField } from "../../../../components/controls/field.tsx"
import { FormDialog } from "../../../../components/layers/form-dialog.tsx"

interface TagDialogProps {
  version: ObjectVersion
  error: Error | null
  isPending: boolean
  onAdd: (tag: string) => void
  onClose: () => void
}

export function TagDialog({ version, error, isPending, onAdd, onClose }: TagDialogProps) {
  const [tag, setTag] = useState("")
  const submit = () => onAdd(tag.trim())
  return (
    <FormDialog
      title={`Tag ${version.object_id} v${version.version_index}`}
      width={400}
      action="Add the tag"
      isReady={tag.trim() !== ""}
      isPending={isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label="Tag"
        autoFocus
        value={tag}
        onChange={(event) => setTag(event.target.value)}
        hint="Letters, digits, - and _, with single spaces between words. Several versions may have the same."
        error={error?.message}
      />
    </FormDialog>
  )
}

/** Takes an alias off a version, after a question: whoever asks for it gets nothing from then on. */
import type { ObjectVersion } from "../../../../api/objects/object-versions.ts"
import { Confirm } from "../../../../components/layers/confirm.tsx"

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
    <Confirm
      title={`Take ${alias} off v${index}?`}
      action={`Take ${alias} off v${index}`}
      failure="The alias is still there."
      change={{ isPending, error }}
      onConfirm={onRemove}
      onClose={onClose}
    >
      <p>
        {name}:{alias} names no version from then on: whoever asks for it gets an error.
      </p>
    </Confirm>
  )
}

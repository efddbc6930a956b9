/** Lets an alias name a version. When it names another one, the question says from where to where it moves. */
import { useId, useState } from "react"
import type { ObjectVersion } from "../../../../api/objects/object-versions.ts"
import { TextField } from "../../../../components/controls/field.tsx"
import { FormDialog } from "../../../../components/layers/form-dialog.tsx"
import styles from "./alias-dialog.module.css"

interface AliasDialogProps {
  version: ObjectVersion
  versions: readonly ObjectVersion[]
  error: Error | null
  isPending: boolean
  onSet: (alias: string) => void
  onClose: () => void
}

export function AliasDialog({ version, versions, error, isPending, onSet, onClose }: AliasDialogProps) {
  const [typed, setTyped] = useState("")
  const id = useId()
  const alias = typed.trim()
  const { object_id: name, version_index: index, digest } = version
  const known = [...new Set(versions.flatMap(({ aliases }) => aliases ?? []))].filter((one) => one !== "latest")
  const holder = alias === "" ? undefined : versions.find(({ aliases }) => aliases?.includes(alias))
  const isHere = holder?.digest === digest
  const isMove = holder !== undefined && !isHere
  const submit = () => onSet(alias)
  return (
    <FormDialog
      title={`Which alias names ${name} v${index}?`}
      width={440}
      action={isMove ? `Move ${alias} from v${holder.version_index} to v${index}` : `Let it name v${index}`}
      isReady={alias !== "" && !isHere}
      isPending={isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label="Alias"
        autoFocus
        isMono
        list={id}
        autoComplete="off"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
        hint="A name of one version at a time, such as production. Clients that ask for it get that version."
        error={error?.message}
      />
      <datalist id={id}>
        {known.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </datalist>
      <p aria-live="polite" className={styles.question}>
        {isHere ? (
          <>
            <b>{alias}</b> names v{index} already.
          </>
        ) : isMove ? (
          <>
            <b>{alias}</b> names v{holder.version_index} now. Move it from v{holder.version_index} to v{index}? Whoever
            asks for {name}:{alias} gets v{index} from then on.
          </>
        ) : (
          alias !== "" && (
            <>
              <b>{alias}</b> is a new alias of {name}.
            </>
          )
        )}
      </p>
    </FormDialog>
  )
}

/** The field over a list of agents or conversations. Messages are searched for it: the list is read when typing has come to rest. */
import { useEffect, useEffectEvent, useRef } from "react"
import { TextField } from "../../../../components/controls/field.tsx"
import { useDraft } from "../../../../components/controls/use-draft.ts"
import { useKeys } from "../../../../keys/use-keys.ts"
import { useIsLeaving } from "../../../../url/use-is-leaving.ts"
import styles from "./group-find.module.css"

const restMs = 400

interface GroupFindProps {
  label: string
  /** As the address has it. */
  text: string
  onChange: (text: string) => void
}

export function GroupFind({ label, text, onChange }: GroupFindProps) {
  const [draft, setDraft] = useDraft(text)
  const input = useRef<HTMLInputElement>(null)
  const isLeaving = useIsLeaving()
  const tell = (typed: string) => {
    if (typed !== text && !isLeaving()) onChange(typed)
  }
  const atRest = useEffectEvent(tell)
  // The clock.
  useEffect(() => {
    const timer = setTimeout(() => atRest(draft), restMs)
    return () => clearTimeout(timer)
  }, [draft])
  useKeys([{ keys: "/", label: "find", group: "Traces", run: () => input.current?.focus() }])
  return (
    <form
      className={styles.find}
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        tell(draft)
      }}
    >
      <TextField
        ref={input}
        label={label}
        isLabelHidden
        type="search"
        placeholder={label}
        value={draft}
        onChange={({ target }) => setDraft(target.value)}
      />
    </form>
  )
}

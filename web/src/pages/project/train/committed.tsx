/** A field of the form whose value counts when it is left, or with Enter: each change asks the server. */
import { type ReactNode, useState } from "react"
import { TextField } from "../../../components/controls/field.tsx"

interface CommittedProps {
  label: string
  value: string
  hint?: ReactNode
  inputMode?: "decimal" | "numeric"
  /** Why a text does not count, in a sentence; null: it does. An empty one always does. */
  problemOf?: (text: string) => string | null
  onCommit: (text: string) => void
}

export function Committed({ value, problemOf, onCommit, ...rest }: CommittedProps) {
  const [draft, setDraft] = useState({ of: value, text: value })
  const [problem, setProblem] = useState<string | null>(null)
  if (draft.of !== value) {
    // The value was changed elsewhere, or is what was typed as the address writes it.
    setDraft({ of: value, text: value })
    setProblem(null)
  }
  const commit = () => {
    if (draft.text === value) return
    const found = draft.text.trim() === "" ? null : (problemOf?.(draft.text) ?? null)
    setProblem(found)
    if (found === null) onCommit(draft.text)
  }
  return (
    <TextField
      {...rest}
      isMono
      autoComplete="off"
      spellCheck={false}
      value={draft.text}
      error={problem}
      onChange={({ target }) => {
        setDraft({ of: value, text: target.value })
        setProblem(null)
      }}
      onBlur={commit}
      onKeyDown={({ key }) => {
        if (key === "Enter") commit()
      }}
    />
  )
}

export const itemsOf = (text: string) => text.split(",").flatMap((item) => (item.trim() === "" ? [] : [item.trim()]))

/** undefined: nothing is written. */
export const textOf = (text: string) => (text.trim() === "" ? undefined : text.trim())

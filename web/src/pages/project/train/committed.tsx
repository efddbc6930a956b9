/** A field of the form whose value counts when it is left, or with Enter: each change asks the server. */
import { type ReactNode, useState } from "react"
import { TextField } from "../../../components/controls/field.tsx"
import { useDraft } from "../../../components/controls/use-draft.ts"

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
  const [text, setText] = useDraft(value)
  /** Of a text that did not count. */
  const [problem, setProblem] = useState<{ of: string; says: string } | null>(null)
  const commit = () => {
    if (text === value) return
    const says = text.trim() === "" ? null : (problemOf?.(text) ?? null)
    setProblem(says === null ? null : { of: text, says })
    if (says === null) onCommit(text)
  }
  return (
    <TextField
      {...rest}
      isMono
      autoComplete="off"
      spellCheck={false}
      value={text}
      error={problem !== null && problem.of === text && text !== value ? problem.says : null}
      onChange={({ target }) => {
        setText(target.value)
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

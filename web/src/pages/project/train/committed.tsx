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
  /** A text that was given on for a value: while that stays, it is another way to write it. */
  const [given, setGiven] = useState<{ text: string; over: string } | null>(null)
  const commit = () => {
    if (text === value) return
    const says = text.trim() === "" ? null : (problemOf?.(text) ?? null)
    setProblem(says === null ? null : { of: text, says })
    if (says !== null) return
    setGiven({ text, over: value })
    onCommit(text)
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
      onKeyDown={(event) => {
        if (event.key !== "Enter" || text === value) return
        // With ⌘ or Ctrl it would start the job, and that would be with the value before this one.
        if (given?.text !== text || given.over !== value) event.preventDefault()
        commit()
      }}
    />
  )
}

export const itemsOf = (text: string) => text.split(",").flatMap((item) => (item.trim() === "" ? [] : [item.trim()]))

/** undefined: nothing is written. */
export const textOf = (text: string) => (text.trim() === "" ? undefined : text.trim())

/** A field of the form whose value counts when it is left, or with Enter: each change asks the server. */
import type { ReactNode } from "react"
import { TextField } from "../../../components/controls/field.tsx"

interface CommittedProps {
  label: string
  value: string
  hint?: ReactNode
  inputMode?: "decimal" | "numeric"
  onCommit: (text: string) => void
}

export function Committed({ value, onCommit, ...rest }: CommittedProps) {
  const commit = (text: string) => {
    if (text !== value) onCommit(text)
  }
  return (
    <TextField
      {...rest}
      key={value}
      isMono
      defaultValue={value}
      autoComplete="off"
      onBlur={({ target }) => commit(target.value)}
      onKeyDown={({ key, currentTarget }) => {
        if (key === "Enter") commit(currentTarget.value)
      }}
    />
  )
}

export const itemsOf = (text: string) => text.split(",").flatMap((item) => (item.trim() === "" ? [] : [item.trim()]))

/** undefined: nothing is written. */
export const textOf = (text: string) => (text.trim() === "" ? undefined : text.trim())

export function numberOf(text: string): number | undefined {
  const number = Number(text)
  return text.trim() === "" || !Number.isFinite(number) ? undefined : number
}

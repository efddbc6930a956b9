/** The filter as chips and a line to type into. Chips are drawn from the text of the address and written back to it. */
import { ListFilter, X } from "lucide-react"
import { type KeyboardEvent, useId, useRef, useState } from "react"
import { type Known, type Suggestion, suggestionsFor } from "../../../calls/filter/filter-suggestions.ts"
import { type Clause, FilterError, parseFilter, printClause, printFilter } from "../../../calls/filter/filter-text.ts"
import { classNames } from "../../../components/class-names.ts"
import { Button } from "../../../components/controls/button.tsx"
import { Icon } from "../../../components/signs/icon.tsx"
import { Keys } from "../../../components/signs/keys.tsx"
import { useKeys } from "../../../keys/use-keys.ts"
import styles from "./filter-bar.module.css"

interface FilterBarProps {
  /** As the address has it. */
  text: string
  known: Known
  onChange: (text: string) => void
}

export interface ReadFilter {
  clauses: Clause[]
  error: FilterError | null
}

export function readFilter(text: string): ReadFilter {
  try {
    return { clauses: parseFilter(text), error: null }
  } catch (error) {
    if (error instanceof FilterError) return { clauses: [], error }
    throw error
  }
}

export function FilterBar({ text, known, onChange }: FilterBarProps) {
  const { clauses, error } = readFilter(text)
  // A filter that is not understood stays as it was typed.
  const [draft, setDraft] = useState(error === null ? "" : text)
  const [problem, setProblem] = useState<FilterError | null>(error)
  const [isOpen, setOpen] = useState(false)
  const [marked, setMarked] = useState(-1)
  const [drawn, setDrawn] = useState(text)
  if (drawn !== text) {
    setDrawn(text)
    // What somebody types stays, a chip that is being changed above all.
    if (error !== null || (problem !== null && draft === drawn)) {
      setDraft(error === null ? "" : text)
      setProblem(error)
    }
  }
  const input = useRef<HTMLInputElement>(null)
  const id = useId()
  const suggestions = isOpen ? suggestionsFor(draft, known) : []

  useKeys([{ keys: "/", label: "filter", group: "Traces", run: () => input.current?.focus() }])

  const type = (next: string) => {
    setDraft(next)
    setProblem(null)
    setMarked(-1)
    setOpen(true)
  }
  const clear = () => {
    type("")
    setOpen(false)
  }
  const commit = (next: string) => {
    const read = readFilter(next)
    setProblem(read.error)
    if (read.error !== null) return setDraft(next)
    clear()
    onChange(printFilter([...clauses, ...read.clauses]))
  }
  const take = ({ text: next, isWhole }: Suggestion) => {
    if (isWhole) commit(next)
    else type(next)
    input.current?.focus()
  }
  const without = (index: number) => onChange(printFilter(clauses.toSpliced(index, 1)))
  const edit = (index: number) => {
    const clause = clauses[index]
    if (clause === undefined) return
    without(index)
    type(printClause(clause))
    input.current?.focus()
  }
  const press = (event: KeyboardEvent) => {
    const [first] = suggestions
    const chosen = suggestions[marked]
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setOpen(true)
      setMarked(Math.min(suggestions.length - 1, Math.max(-1, marked + step)))
    } else if (event.key === "Enter") {
      event.preventDefault()
      if (chosen !== undefined) take(chosen)
      // A value that is begun and not understood yet is completed by what stands first in the list.
      else if (first?.isWhole === true && /\S$/.test(draft) && readFilter(draft).error !== null) take(first)
      else if (draft.trim() !== "") commit(draft)
    } else if (event.key === "Tab" && first !== undefined && draft !== "" && !event.shiftKey) {
      event.preventDefault()
      take(chosen ?? first)
    } else if (event.key === "Escape") {
      if (suggestions.length > 0) setOpen(false)
      else input.current?.blur()
    } else if (event.key === "Backspace" && draft === "" && clauses.length > 0) {
      event.preventDefault()
      edit(clauses.length - 1)
    }
  }

  return (
    <div className={styles.around} role="search">
      <div
        className={classNames(styles.bar, problem !== null && styles.invalid)}
        // Beside the chips and buttons.
        onClick={({ target }) => !(target instanceof Element && target.closest("button")) && input.current?.focus()}
        role="presentation"
      >
        <Icon of={ListFilter} size={14} className={styles.sign} />
        {clauses.map((clause, index) => (
          <span key={printClause(clause)} className={styles.chip}>
            <button
              type="button"
              className={styles.clause}
              onClick={() => edit(index)}
              aria-label={`Change ${printClause(clause)}`}
            >
              <Chip clause={clause} />
            </button>
            <button
              type="button"
              className={styles.remove}
              onClick={() => without(index)}
              aria-label={`Remove ${printClause(clause)}`}
            >
              <Icon of={X} size={12} />
            </button>
          </span>
        ))}
        <input
          ref={input}
          className={styles.input}
          role="combobox"
          aria-label="Filter"
          aria-expanded={suggestions.length > 0}
          aria-controls={suggestions.length > 0 ? `${id}-list` : undefined}
          aria-activedescendant={marked >= 0 ? `${id}-${marked}` : undefined}
          aria-invalid={problem !== null || undefined}
          aria-describedby={problem === null ? undefined : `${id}-problem`}
          autoComplete="off"
          spellCheck={false}
          value={draft}
          placeholder={clauses.length === 0 ? "Filter, or words to find in inputs, outputs and errors" : ""}
          onChange={(event) => type(event.target.value)}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onKeyDown={press}
        />
        {text !== "" && (
          <Button
            size="small"
            kind="quiet"
            onClick={() => {
              clear()
              onChange("")
            }}
          >
            Clear
          </Button>
        )}
        <span className={styles.keys}>
          <Keys of="/" />
        </span>
      </div>
      {suggestions.length > 0 && (
        <div className={styles.list} role="listbox" aria-label="Suggestions" id={`${id}-list`}>
          {suggestions.map((suggestion, index) => (
            // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus -- the field has the focus and the keys
            <div
              key={suggestion.label}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === marked}
              className={styles.option}
              // The field keeps the focus.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => take(suggestion)}
            >
              <code>{suggestion.label}</code>
              <span className={styles.note}>{suggestion.note}</span>
            </div>
          ))}
        </div>
      )}
      {problem !== null && (
        <p className={styles.problem} id={`${id}-problem`} role="alert">
          The filter is not understood at “{problem.place}”. {problem.message}{" "}
          <span className={styles.note}>This works: </span>
          <code>status is error and duration &gt; 10s "refund"</code>
        </p>
      )}
    </div>
  )
}

function Chip({ clause }: { clause: Clause }) {
  const { field, operator, values } = clause
  if (field === null) return <b>{printClause(clause)}</b>
  return (
    <>
      {field} <span className={styles.operator}>{operator}</span>{" "}
      {values.length > 0 && <b>{values.map(({ text }) => text).join(", ")}</b>}
    </>
  )
}

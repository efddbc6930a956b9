/** Inputs with their label, and what is wrong with their value. */
import { type ComponentProps, type ReactNode, useId } from "react"
import { classNames } from "../class-names.ts"
import styles from "./field.module.css"

interface FieldProps {
  label: string
  /** For readers only: where the place says what it is. */
  isLabelHidden?: boolean
  hint?: ReactNode
  /** The error, in one sentence. */
  error?: string | null | undefined
}

type InputProps = FieldProps & Omit<ComponentProps<"input">, "className" | "id"> & { isMono?: boolean }

export function TextField({ label, isLabelHidden = false, hint, error, isMono = false, ...rest }: InputProps) {
  const { id, noteId } = useFieldIds()
  return (
    <div className={styles.field}>
      <FieldLabel id={id} label={label} isHidden={isLabelHidden} />
      <input
        id={id}
        aria-label={isLabelHidden ? label : undefined}
        className={classNames(styles.input, isMono && styles.mono)}
        aria-invalid={error ? true : undefined}
        aria-describedby={error || hint ? noteId : undefined}
        {...rest}
      />
      <FieldNote id={noteId} hint={hint} error={error} />
    </div>
  )
}

type AreaProps = FieldProps & Omit<ComponentProps<"textarea">, "className" | "id"> & { isMono?: boolean }

/** A text field of several lines. */
export function TextArea({ label, isLabelHidden = false, hint, error, isMono = false, ...rest }: AreaProps) {
  const { id, noteId } = useFieldIds()
  return (
    <div className={styles.field}>
      <FieldLabel id={id} label={label} isHidden={isLabelHidden} />
      <textarea
        id={id}
        aria-label={isLabelHidden ? label : undefined}
        className={classNames(styles.input, styles.area, isMono && styles.mono)}
        aria-invalid={error ? true : undefined}
        aria-describedby={error || hint ? noteId : undefined}
        {...rest}
      />
      <FieldNote id={noteId} hint={hint} error={error} />
    </div>
  )
}

type SelectProps = FieldProps & Omit<ComponentProps<"select">, "className" | "id">

/** A plain list of choices, which phones show in their own way. */
export function SelectField({ label, isLabelHidden = false, hint, error, children, ...rest }: SelectProps) {
  const { id, noteId } = useFieldIds()
  return (
    <div className={styles.field}>
      <FieldLabel id={id} label={label} isHidden={isLabelHidden} />
      <select
        id={id}
        aria-label={isLabelHidden ? label : undefined}
        className={classNames(styles.input, styles.select)}
        {...rest}
      >
        {children}
      </select>
      <FieldNote id={noteId} hint={hint} error={error} />
    </div>
  )
}

type BoxProps = Omit<ComponentProps<"input">, "className" | "type"> & { label: string; isLabelHidden?: boolean }

export function Checkbox({ label, isLabelHidden = false, ...rest }: BoxProps) {
  return <Box type="checkbox" label={label} isLabelHidden={isLabelHidden} {...rest} />
}

export function Radio({ label, isLabelHidden = false, ...rest }: BoxProps) {
  return <Box type="radio" label={label} isLabelHidden={isLabelHidden} {...rest} />
}

function Box({ label, isLabelHidden, type, ...rest }: BoxProps & { type: "checkbox" | "radio" }) {
  return (
    <label className={styles.choice}>
      <input type={type} className={styles.box} aria-label={isLabelHidden ? label : undefined} {...rest} />
      {!isLabelHidden && label}
    </label>
  )
}

function FieldLabel({ id, label, isHidden }: { id: string; label: string; isHidden: boolean }) {
  return isHidden ? null : (
    <label htmlFor={id} className={styles.label}>
      {label}
    </label>
  )
}

function FieldNote({ id, hint, error }: { id: string; hint: ReactNode; error: string | null | undefined }) {
  if (error) {
    return (
      <p id={id} className={styles.error} role="alert">
        {error}
      </p>
    )
  }
  return hint ? (
    <p id={id} className={styles.hint}>
      {hint}
    </p>
  ) : null
}

function useFieldIds() {
  const id = useId()
  return { id, noteId: `${id}-note` }
}

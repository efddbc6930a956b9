/** Fields that are known, to take with a click instead of writing them. */
import { Button } from "../../../components/controls/button.tsx"
import styles from "./train-form.module.css"

export interface FieldChoice {
  name: string
  isOn: boolean
  onToggle: () => void
}

export function FieldChoices({ label, choices }: { label: string; choices: readonly FieldChoice[] }) {
  if (choices.length === 0) return null
  return (
    <div className={styles.choices} role="group" aria-label={label}>
      {choices.map(({ name, isOn, onToggle }) => (
        <Button key={name} size="small" isOn={isOn} onClick={onToggle}>
          <span className={styles.field}>{name}</span>
        </Button>
      ))}
    </div>
  )
}

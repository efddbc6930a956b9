/** JSON that is written by hand: what is wrong with it is said, and nothing wrong is saved. */
import { type FormEvent, useState } from "react"
import { Button } from "../../../components/controls/button.tsx"
import { TextArea } from "../../../components/controls/field.tsx"
import { Dialog } from "../../../components/layers/dialog.tsx"
import styles from "./json-dialog.module.css"

interface JsonDialogProps {
  title: string
  hint: string
  text: string
  example: string
  problemOf: (text: string) => string | null
  onSave: (text: string) => void
  onClose: () => void
}

export function JsonDialog({ title, hint, text: given, example, problemOf, onSave, onClose }: JsonDialogProps) {
  const [text, setText] = useState(given)
  const problem = problemOf(text)
  const save = (event: FormEvent) => {
    event.preventDefault()
    onSave(text.trim())
    onClose()
  }
  return (
    <Dialog title={title} isOpen onClose={onClose} width={680} isForm>
      <form className={styles.form} onSubmit={save}>
        <p className={styles.hint}>{hint}</p>
        <TextArea
          label={`${title}, JSON`}
          isLabelHidden
          isMono
          error={problem}
          rows={16}
          spellCheck={false}
          autoFocus
          placeholder={example}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <div className={styles.actions}>
          {text.trim() === "" ? (
            <Button onClick={() => setText(example)}>Begin with an example</Button>
          ) : (
            <Button onClick={() => setText("")}>Clear</Button>
          )}
          <span className={styles.end}>
            <Button onClick={onClose}>Leave it</Button>
            <Button kind="primary" type="submit" disabled={problem !== null}>
              Use it
            </Button>
          </span>
        </div>
      </form>
    </Dialog>
  )
}

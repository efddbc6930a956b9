/** Which columns a table shows, in which order; any path of the values of its rows can be one. */
import { ArrowDown, ArrowUp } from "lucide-react"
import { type FormEvent, useState } from "react"
import { Button } from "../../../components/controls/button.tsx"
import { Checkbox, TextField } from "../../../components/controls/field.tsx"
import { Dialog } from "../../../components/layers/dialog.tsx"
import styles from "./column-chooser.module.css"

interface ColumnChooserProps {
  /** Ids of those that are shown, in order. */
  shown: readonly string[]
  columns: readonly { id: string; title: string }[]
  /** Ids of those that are shown unless somebody chooses. */
  usual: readonly string[]
  /** Paths that the rows have. */
  paths: readonly string[]
  /** More of them come. */
  isReading?: boolean
  isPath: (text: string) => boolean
  /** A path as an example. */
  example: string
  /** What a path is, for whoever typed something else. */
  pathRule: string
  /** undefined: the usual ones. */
  onChange: (shown: string[] | undefined) => void
  onClose: () => void
}

export function ColumnChooser(props: ColumnChooserProps) {
  const { shown, columns, usual, paths, isReading = false, isPath, example, pathRule, onChange, onClose } = props
  const [path, setPath] = useState("")
  const [problem, setProblem] = useState<string | null>(null)
  const titles = new Map(columns.map(({ id, title }) => [id, title]))
  const rest = [...columns.map(({ id }) => id), ...paths].filter((id) => !shown.includes(id))

  const move = (index: number, by: 1 | -1) => {
    const id = shown[index]
    if (id !== undefined) onChange(shown.toSpliced(index, 1).toSpliced(index + by, 0, id))
  }
  const add = (event: FormEvent) => {
    event.preventDefault()
    const wanted = path.trim()
    if (!isPath(wanted)) return setProblem(pathRule)
    if (!shown.includes(wanted)) onChange([...shown, wanted])
    setPath("")
  }

  return (
    <Dialog title="Columns" isOpen onClose={onClose} width={480}>
      <div className={styles.body}>
        <ul aria-label="Shown">
          {shown.map((id, index) => (
            <li key={id} className={styles.column}>
              <Checkbox
                label={titles.get(id) ?? id}
                checked
                disabled={shown.length === 1}
                onChange={() => onChange(shown.filter((one) => one !== id))}
              />
              <span className={styles.moves}>
                <Button
                  size="small"
                  kind="quiet"
                  icon={ArrowUp}
                  aria-label={`Move ${titles.get(id) ?? id} forward`}
                  disabled={index === 0}
                  onClick={() => move(index, -1)}
                />
                <Button
                  size="small"
                  kind="quiet"
                  icon={ArrowDown}
                  aria-label={`Move ${titles.get(id) ?? id} back`}
                  disabled={index === shown.length - 1}
                  onClick={() => move(index, 1)}
                />
              </span>
            </li>
          ))}
        </ul>
        <h3 className={styles.head}>More</h3>
        <ul className={styles.more} aria-label="More">
          {rest.map((id) => (
            <li key={id} className={styles.column}>
              <Checkbox label={titles.get(id) ?? id} checked={false} onChange={() => onChange([...shown, id])} />
            </li>
          ))}
        </ul>
        {isReading && <p className={styles.reading}>Reading more values…</p>}
        <form className={styles.add} onSubmit={add}>
          <TextField
            label="Any value"
            isMono
            placeholder={example}
            value={path}
            error={problem}
            onChange={(event) => {
              setPath(event.target.value)
              setProblem(null)
            }}
          />
          <Button type="submit">Add</Button>
        </form>
        <div className={styles.actions}>
          <Button kind="quiet" disabled={shown.join() === usual.join()} onClick={() => onChange(undefined)}>
            The usual columns
          </Button>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

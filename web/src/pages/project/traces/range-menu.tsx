/** The range of time: a few that go back from now, or two times. */
import { Calendar } from "lucide-react"
import { type FormEvent, useState } from "react"
import { classNames } from "../../../components/class-names.ts"
import { Button } from "../../../components/controls/button.tsx"
import { TextField } from "../../../components/controls/field.tsx"
import { Dialog } from "../../../components/layers/dialog.tsx"
import { Menu, MenuItem, MenuLine } from "../../../components/layers/menu.tsx"
import styles from "./range-menu.module.css"
import { fieldOfTime, rangeNames, ranges, timeOfField } from "./time-range.ts"

interface RangeMenuProps {
  name: string
  from: string
  to: string
  onChange: (from: string, to: string) => void
}

export function RangeMenu({ name, from, to, onChange }: RangeMenuProps) {
  const [isChoosing, setChoosing] = useState(false)
  return (
    <>
      <Menu
        icon={Calendar}
        label={`Range of time: ${name}`}
        items={
          <>
            <MenuItem onAction={() => onChange("", "")}>All time</MenuItem>
            {rangeNames.map((range) => (
              <MenuItem key={range} onAction={() => onChange(range, "")}>
                {ranges[range].name}
              </MenuItem>
            ))}
            <MenuLine />
            <MenuItem onAction={() => setChoosing(true)}>Between two times…</MenuItem>
          </>
        }
      >
        <span className={classNames(styles.name, from === "" && to === "" && styles.whole)}>{name}</span>
      </Menu>
      {isChoosing && (
        <Between
          from={from}
          to={to}
          onClose={() => setChoosing(false)}
          onChange={(start, end) => {
            setChoosing(false)
            onChange(start, end)
          }}
        />
      )}
    </>
  )
}

function Between({ from, to, onChange, onClose }: Omit<RangeMenuProps, "name"> & { onClose: () => void }) {
  const [start, setStart] = useState(fieldOfTime(from))
  const [end, setEnd] = useState(fieldOfTime(to))
  const isReversed = Date.parse(start) > Date.parse(end)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!isReversed) onChange(timeOfField(start), timeOfField(end))
  }
  return (
    <Dialog title="Between two times" isOpen onClose={onClose} width={360}>
      <form className={styles.form} onSubmit={submit}>
        <TextField
          label="From"
          type="datetime-local"
          // A range that was drawn over the bars has seconds.
          step={1}
          value={start}
          onChange={(event) => setStart(event.target.value)}
        />
        <TextField
          label="To"
          type="datetime-local"
          step={1}
          value={end}
          error={isReversed ? "It ends before it begins." : null}
          onChange={(event) => setEnd(event.target.value)}
        />
        <div className={styles.actions}>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button kind="primary" type="submit">
            Show
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** A button that asks which model or step, with a field to search them. */
import { useState } from "react"
import { Autocomplete, Input, Menu, MenuItem, SearchField } from "react-aria-components"
import { type ChatModel, type ChatModels, useChatSteps } from "../../../api/chat/playground-models.ts"
import { Button, type ButtonLook } from "../../../components/controls/button.tsx"
import { Dialog } from "../../../components/layers/dialog.tsx"
import styles from "./model-picker.module.css"

interface ModelPickerProps {
  models: ChatModels
  label: string
  look: ButtonLook
  onChoose: (model: string) => void
}

export function ModelPicker({ models, label, look, onChoose }: ModelPickerProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button {...look} aria-haspopup="dialog" title={label} onClick={() => setOpen(true)} />
      {isOpen && (
        <Dialog title={label} isOpen onClose={() => setOpen(false)} isHigh width={480}>
          <Found
            models={models}
            onChoose={(model) => {
              setOpen(false)
              onChoose(model)
            }}
          />
        </Dialog>
      )}
    </>
  )
}

/** Longer lists are searched. */
const mostShown = 200

function Found({ models, onChoose }: Pick<ModelPickerProps, "models" | "onChoose">) {
  const [text, setText] = useState("")
  const steps = useChatSteps(models.trained)
  const wanted = text.trim().toLowerCase()
  const all = [...(models.models ?? []), ...steps]
  const found = all.filter(({ name, note }) => `${name} ${note}`.toLowerCase().includes(wanted)).slice(0, mostShown)
  // A step that is further back than the list, or a model of another project.
  const typed: ChatModel[] =
    wanted === "" || all.some(({ name }) => name === text.trim()) ? [] : [{ name: text.trim(), note: "as typed" }]
  return (
    <Autocomplete inputValue={text} onInputChange={setText}>
      <SearchField aria-label="Model or step" autoFocus className={styles.field ?? ""}>
        <Input className={styles.input ?? ""} placeholder="Model or step, such as returns-agent@12" />
      </SearchField>
      <Menu
        className={styles.list ?? ""}
        aria-label="Models and steps"
        items={[...found, ...typed]}
        onAction={(name) => onChoose(String(name))}
        renderEmptyState={() => <p className={styles.none}>No model of this name.</p>}
      >
        {({ name, note }) => (
          <MenuItem id={name} textValue={name} className={styles.item ?? ""}>
            <span className={styles.name}>{name}</span>
            <span className={styles.note}>{note}</span>
          </MenuItem>
        )}
      </Menu>
    </Autocomplete>
  )
}

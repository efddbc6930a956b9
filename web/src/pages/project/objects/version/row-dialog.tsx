/** A row of a dataset as JSON, to be written or changed. */
import { useState } from "react"
import { TextArea } from "../../../../components/controls/field.tsx"
import { FormDialog } from "../../../../components/layers/form-dialog.tsx"
import { compactJson, indentedJson } from "../../../../json/indented-json.ts"
import { rowProblem } from "../../../../objects/row-text.ts"

interface RowDialogProps {
  title: string
  /** JSON, to begin with. */
  text: string
  /** Gets JSON without blanks. */
  onTake: (text: string) => void
  onClose: () => void
}

export function RowDialog({ title, text: given, onTake, onClose }: RowDialogProps) {
  const [text, setText] = useState(() => indentedJson(given))
  const problem = rowProblem(text, '{"question": "…", "expected": "…"}')
  return (
    <FormDialog
      title={title}
      width={680}
      action="Take it into the draft"
      isReady={problem === null}
      isPending={false}
      onSubmit={() => {
        onTake(compactJson(text))
        onClose()
      }}
      onClose={onClose}
    >
      <TextArea
        label="The row, JSON"
        isLabelHidden
        isMono
        autoFocus
        rows={16}
        spellCheck={false}
        error={problem}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </FormDialog>
  )
}

/** At the foot: take back, skip, submit; and what became of the item before. */
import { SkipForward, Undo2 } from "lucide-react"
import { type FormEvent, useState } from "react"
import { Button } from "../../../../components/controls/button.tsx"
import { TextField } from "../../../../components/controls/field.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { useKeys } from "../../../../keys/use-keys.ts"
import { mostUndone } from "../../../../labelling/label-session.ts"
import { useMedia } from "../../../../shell/use-media.ts"
import styles from "./label-foot.module.css"
import type { Work } from "./labelling.tsx"

interface LabelFootProps extends Pick<Work, "state" | "session"> {
  /** Questions that keep the item from being submitted; null: it cannot be; undefined: no item is in hand. */
  open?: number | null
  /** On the button. */
  submitWords?: string
  isSkipping?: boolean
  onSkipping?: (isSkipping: boolean) => void
  onSkip?: (reason: string) => void
  onSubmit?: () => void
}

export function LabelFoot(props: LabelFootProps) {
  const { state, session, open, submitWords = "Submit, next", isSkipping = false, onSkipping, onSkip, onSubmit } = props
  const isNarrow = useMedia("(max-width: 699px)")
  const last = state.done.at(-1)
  const waits = last !== undefined && state.waiting.some(({ item }) => item.id === last.item.id)
  const undo = () => session.undo()
  useKeys([{ keys: "z", label: `undo, up to ${mostUndone}`, group: "Labelling", run: undo }])
  return (
    <>
      {state.undoError !== null && (
        <div className={styles.error}>
          <ErrorNote what="The item could not be taken back." error={state.undoError} />
        </div>
      )}
      <footer className={styles.foot}>
        <Button
          kind="quiet"
          icon={Undo2}
          keys={isNarrow ? undefined : "z"}
          aria-label={isNarrow ? "Undo the last one" : undefined}
          disabled={last === undefined}
          onClick={undo}
        >
          {isNarrow ? undefined : "Undo"}
        </Button>
        {!isNarrow && (
          <span className={styles.last} aria-live="polite">
            {last === undefined
              ? `Undo works for the last ${mostUndone}.`
              : `The one before: ${last.text}. ${waits ? "Being sent" : "Stored"}; ${state.done.length} can be taken back.`}
          </span>
        )}
        {open !== undefined && (
          <span className={styles.actions}>
            {isSkipping ? (
              <SkipForm onSkip={(reason) => onSkip?.(reason)} onClose={() => onSkipping?.(false)} />
            ) : (
              <>
                <Button
                  icon={isNarrow ? undefined : SkipForward}
                  keys={isNarrow ? undefined : "s"}
                  disabled={open === null}
                  onClick={() => onSkipping?.(true)}
                >
                  Skip…
                </Button>
                <span className={styles.submit}>
                  <Button
                    kind="primary"
                    keys={isNarrow ? undefined : "mod+Enter"}
                    disabled={open !== 0}
                    onClick={() => onSubmit?.()}
                  >
                    {open === 0 || open === null ? submitWords : `${open} to answer`}
                  </Button>
                </span>
              </>
            )}
          </span>
        )}
      </footer>
    </>
  )
}

function SkipForm({ onSkip, onClose }: { onSkip: (reason: string) => void; onClose: () => void }) {
  const [reason, setReason] = useState("")
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSkip(reason)
  }
  return (
    <form className={styles.skip} onSubmit={submit}>
      <TextField
        label="Why it is skipped"
        isLabelHidden
        autoFocus
        placeholder="Why? Somebody else gets it."
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") onClose()
        }}
      />
      <Button type="submit" keys="Enter">
        Skip
      </Button>
      <Button kind="quiet" keys="Escape" onClick={onClose}>
        Leave it
      </Button>
    </form>
  )
}

/** The values that there are, in a window of their own: where the table has no room beside it. */
import { Button } from "../../../components/controls/button.tsx"
import { Dialog } from "../../../components/layers/dialog.tsx"
import { Facets, type FacetsProps } from "./facets.tsx"
import styles from "./facets.module.css"

interface FacetsDialogProps extends FacetsProps {
  /** What the filter leaves: "7 traces". */
  left: string | null
  onClose: () => void
}

export function FacetsDialog({ left, onClose, ...facets }: FacetsDialogProps) {
  return (
    <Dialog title="Values" isOpen onClose={onClose} width={480}>
      <div className={styles.window}>
        <Facets {...facets} />
        <div className={styles.foot}>
          <span aria-live="polite">{left}</span>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

import { Button } from "../../components/controls/button.tsx"
import { Dialog } from "../../components/layers/dialog.tsx"
import { Line } from "./sample.tsx"
import styles from "./sample-dialog.module.css"

export function SampleDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Move production?" isOpen onClose={onClose} width={420}>
      <div className={styles.body}>
        <p>From step 36 to step 42. Chats that name production follow at once; running ones finish on step 36.</p>
        <Line>
          <Button kind="primary" onClick={onClose}>
            Move
          </Button>
          <Button onClick={onClose}>Leave it</Button>
        </Line>
      </div>
    </Dialog>
  )
}

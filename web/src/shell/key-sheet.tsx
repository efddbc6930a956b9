/** Every shortcut that works on this page, from the list that the keyboard itself goes by. */
import { Dialog } from "../components/layers/dialog.tsx"
import { Keys } from "../components/signs/keys.tsx"
import { useBoundKeys } from "../keys/use-keys.ts"
import styles from "./key-sheet.module.css"

export function KeySheet({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const groups = Map.groupBy(useBoundKeys(), ({ group }) => group)
  return (
    <Dialog title="Keys" isOpen={isOpen} onClose={onClose} width={600}>
      <div className={styles.groups}>
        {[...groups].map(([group, bindings]) => (
          <section key={group} className={styles.group}>
            <h3 className={styles.title}>{group}</h3>
            <ul>
              {bindings.map(({ keys, label }) => (
                <li key={keys} className={styles.line}>
                  <span>{label}</span>
                  <Keys of={keys} />
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
    </Dialog>
  )
}

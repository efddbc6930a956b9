/** The annotator's finished items, each of which can be undone; the item in hand; and items loaded ahead. */
import { Check, CircleDashed, CircleDot, CloudUpload, SkipForward, TriangleAlert } from "lucide-react"
import { Icon } from "../../../../components/signs/icon.tsx"
import { counted } from "../../../../format/counted.ts"
import { draftText } from "../../../../labelling/label-draft.ts"
import { draftIn } from "../../../../labelling/label-session.ts"
import styles from "./item-rail.module.css"
import type { Work } from "./labelling.tsx"

const mostShown = 20

export function ItemRail({
  state,
  session,
  counts,
  fields,
  previews,
}: Work & { previews: readonly (string | null)[] }) {
  const done = state.done.slice(-mostShown)
  const [item, ...next] = state.held
  const others = counts === null ? 0 : counts.items.held - state.held.length
  return (
    <nav className={styles.rail} aria-label="Items">
      {done.length > 0 && <h2 className={styles.head}>Yours, newest last</h2>}
      <ul>
        {done.map(({ item: one, state: how, text, at }) => {
          const waits = state.waiting.find((entry) => entry.item.id === one.id)
          const icon =
            waits?.refusal != null ? TriangleAlert : waits ? CloudUpload : how === "skipped" ? SkipForward : Check
          return (
            <li key={`${one.id} ${at}`}>
              <button
                type="button"
                title={`${text}. Take it back${waits ? "; it waits to be sent" : ""}`}
                onClick={() => session.undoItem(one.id)}
              >
                <Icon of={icon} size={12} />
                <span className={styles.words}>{text}</span>
              </button>
            </li>
          )
        })}
        {item !== undefined && (
          <li className={styles.current} aria-current="true">
            <span>
              <Icon of={CircleDot} size={12} />
              <span className={styles.words}>{draftText(fields, draftIn(state, item.id)) || "now"}</span>
            </span>
          </li>
        )}
      </ul>
      {next.length > 0 && (
        <>
          <h2 className={styles.head}>
            Next, {previews.slice(1).every((preview) => preview !== null) ? "already loaded" : "loading"}
          </h2>
          <ul>
            {next.slice(0, 3).map((one, index) => (
              <li key={one.id}>
                <span>
                  <Icon of={CircleDashed} size={12} />
                  <span className={styles.words}>
                    {draftText(fields, draftIn(state, one.id)) || (previews[index + 1] ?? "…")}
                  </span>
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      {others > 0 && <p className={styles.head}>{counted(others, "is", "are")} in other hands</p>}
    </nav>
  )
}

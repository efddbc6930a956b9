/** What went into a call and what came out of it, as JSON that opens on demand. */
import type { ReactNode } from "react"
import type { Call } from "../../../api/calls/calls.ts"
import { isDroppedPayload, largestRow } from "../../../calls/dropped-payload.ts"
import { JsonViewer } from "../../../components/json/json-viewer.tsx"
import { Note } from "../../../components/states/note.tsx"
import type { JsonText } from "../../../json/json-text.ts"
import { MediaStrip } from "../media/media-strip.tsx"
import styles from "./call-payloads.module.css"

/** One of two that stand over each other; each scrolls by itself. */
export function Half({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.half} aria-label={title}>
      <h3 className={styles.halfTitle}>{title}</h3>
      {children}
    </section>
  )
}

export function InputView({ call }: { call: Call }) {
  return <PayloadView project={call.project_id} label="Input" text={call.inputs} />
}

export function OutputView({ call }: { call: Call }) {
  if (call.ended_at != null || call.output !== "null")
    return <PayloadView project={call.project_id} label="Output" text={call.output} />
  return <p className={styles.empty}>The call runs still. Its output shows here when it has ended.</p>
}

function PayloadView({ project, label, text }: { project: string; label: string; text: JsonText }) {
  if (!isDroppedPayload(text)) {
    return (
      <>
        <MediaStrip project={project} label={label} text={text} />
        <JsonViewer label={label} text={text} />
      </>
    )
  }
  return (
    <div className={styles.note}>
      <Note kind="warn" title={`The ${label.toLowerCase()} was too large to keep.`}>
        A call may have {largestRow}. Its times, status and other parts are here. Publish what is larger as a dataset or
        a file, and give the call a ref to it.
      </Note>
    </div>
  )
}

/** Further facts of a call: its ids and times, its attributes, its summary. */
import type { Call } from "../../../api/calls/calls.ts"
import { JsonViewer } from "../../../components/json/json-viewer.tsx"
import { KeyValue, KeyValues } from "../../../components/layout/key-values.tsx"
import { formatWholeTime } from "../../../format/times.ts"
import styles from "./call-facts.module.css"

export function CallFacts({ call }: { call: Call }) {
  return (
    <div className={styles.facts}>
      <KeyValues>
        <KeyValue name="Call">
          <code>{call.id}</code>
        </KeyValue>
        <KeyValue name="Operation">
          <code>{call.op_name}</code>
        </KeyValue>
        <KeyValue name="Started">
          {formatWholeTime(new Date(call.started_at))} <code>{call.started_at}</code>
        </KeyValue>
        {call.ended_at != null && (
          <KeyValue name="Ended">
            {formatWholeTime(new Date(call.ended_at))} <code>{call.ended_at}</code>
          </KeyValue>
        )}
        {call.thread_id != null && (
          <KeyValue name="Thread">
            <code>{call.thread_id}</code>
          </KeyValue>
        )}
        {call.wb_user_id != null && (
          <KeyValue name="User">
            <code>{call.wb_user_id}</code>
          </KeyValue>
        )}
        {call.wb_run_id != null && (
          <KeyValue name="Run">
            <code>{call.wb_run_id}</code>
          </KeyValue>
        )}
      </KeyValues>
      <section aria-label="Attributes">
        <h3 className={styles.title}>Attributes</h3>
        <JsonViewer label="Attributes" text={call.attributes} height={220} />
      </section>
      <section aria-label="Summary">
        <h3 className={styles.title}>Summary</h3>
        <JsonViewer label="Summary" text={call.summary} height={220} />
      </section>
    </div>
  )
}

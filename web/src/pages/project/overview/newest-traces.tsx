/** The traces that began last, running ones too, with the first line of what went in and came out. */
import { type Call, useCalls } from "../../../api/calls/calls.ts"
import { callDuration, callName, callStatus, exceptionLine } from "../../../calls/call-names.ts"
import { payloadPreview } from "../../../calls/payload-preview.ts"
import { PaneHead } from "../../../components/layout/pane.tsx"
import { type Head, PlainTable } from "../../../components/layout/plain-table.tsx"
import { LiveDot } from "../../../components/signs/live-dot.tsx"
import { Status } from "../../../components/signs/status.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { Empty } from "../../../components/states/empty.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { formatDuration } from "../../../format/durations.ts"
import { formatBytes } from "../../../format/sizes.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { quick } from "./live.ts"
import styles from "./newest-traces.module.css"

const mostShown = 8
/** Only the size of a larger call is read: a trace of 60 MB must not be loaded for one line. */
const largestPreview = 64_000

export function NewestTraces({ project }: { project: CurrentProject }) {
  const newest = useCalls(
    {
      project_id: project.id,
      filter: { trace_roots_only: true },
      sort_by: [{ field: "started_at", direction: "desc" }],
      limit: mostShown,
      columns: ["op_name", "display_name", "started_at", "ended_at", "exception"],
      include_storage_size: true,
    },
    quick,
  )
  const small = (newest.data ?? []).filter((call) => (call.storage_size_bytes ?? 0) <= largestPreview)
  const payloads = useCalls(
    {
      project_id: project.id,
      filter: { call_ids: small.map(({ id }) => id) },
      columns: ["inputs", "output"],
      limit: mostShown,
    },
    // Ended calls do not change any more.
    {
      refetchInterval: small.some(({ ended_at }) => ended_at === null) ? quick.refetchInterval : false,
      enabled: small.length > 0,
    },
  )
  const payloadOf = new Map((payloads.data ?? []).map((call) => [call.id, call]))
  return (
    <section aria-label="Newest traces">
      <PaneHead
        title="Newest traces"
        note={
          <>
            <LiveDot /> live
          </>
        }
      />
      <Loaded query={newest} what="traces">
        {(calls) =>
          calls.length === 0 ? (
            <Empty title="No traces yet">
              Chat is counted without them. A trace is recorded by a program with <code>weave.init</code>, or by any
              OpenTelemetry exporter.
            </Empty>
          ) : (
            <PlainTable label="Newest traces" heads={heads} isHeadHidden>
              {calls.map((call) => (
                <Row key={call.id} project={project} call={call} payload={payloadOf.get(call.id)} />
              ))}
            </PlainTable>
          )
        }
      </Loaded>
    </section>
  )
}

const heads: Head[] = [
  { name: "Time", className: styles.time },
  { name: "Status", className: styles.status },
  { name: "Name", className: styles.name },
  { name: "Input" },
  { name: "Output", className: styles.output },
  { name: "Duration", className: styles.duration },
]

function Row({ project, call, payload }: { project: CurrentProject; call: Call; payload: Call | undefined }) {
  const duration = callDuration(call)
  const isLarge = (call.storage_size_bytes ?? 0) > largestPreview
  return (
    <tr>
      <td className={styles.time}>
        <Time at={call.started_at} show="moment" />
      </td>
      <td className={styles.status}>
        <Status of={callStatus(call)} />
      </td>
      <td className={styles.name}>
        <TextLink isQuiet to="/$entity/$project/traces/$trace" params={{ ...project.params, trace: call.trace_id }}>
          {callName(call)}
        </TextLink>
      </td>
      <td>{isLarge ? formatBytes(call.storage_size_bytes ?? 0) : payload && payloadPreview(payload.inputs)}</td>
      <td className={styles.output}>
        {call.exception == null ? payload && payloadPreview(payload.output) : exceptionLine(call.exception)}
      </td>
      <td className={styles.duration}>{duration === null ? "" : formatDuration(duration)}</td>
    </tr>
  )
}

/** Progress of the first client: what works, and what was refused with which reason. */
import { CircleQuestionMark, Radio, TriangleAlert } from "lucide-react"
import type { ReactNode } from "react"
import { useCalls } from "../../../api/calls/calls.ts"
import type { RefusedRequest } from "@heddle/server/wire/platform/refused-request.ts"
import { useRefusedRequests } from "../../../api/organization/refused-requests.ts"
import { useServerInfo, useSystemCheck } from "../../../api/server.ts"
import { callName } from "../../../calls/call-names.ts"
import { LiveDot } from "../../../components/signs/live-dot.tsx"
import { Icon } from "../../../components/signs/icon.tsx"
import { Status, StatusIcon } from "../../../components/signs/status.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { counted } from "../../../format/counted.ts"
import { formatDuration } from "../../../format/durations.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import type { Pulse } from "../use-pulse.ts"
import { Loom } from "./loom.tsx"
import styles from "./live-state.module.css"

const checkMs = 5_000
const mostRefused = 4

interface LiveStateProps {
  project: CurrentProject
  pulse: Pulse
  hasCome: boolean
  error: Error | null
}

export function LiveState({ project, pulse, hasCome, error }: LiveStateProps) {
  const info = useServerInfo()
  const check = useSystemCheck({ refetchInterval: checkMs })
  const refused = useRefusedRequests({ refetchInterval: hasCome ? false : checkMs })
  const engine = check.data?.gpu_queue
  return (
    <aside className={styles.live} aria-label="Live state">
      <div className={styles.loom}>
        <Loom hasThread={hasCome} />
        <div className={styles.state} role="status">
          {hasCome ? (
            <Status of="ok">First call stored</Status>
          ) : (
            <span className={styles.waiting}>
              <LiveDot kind="accent" /> Waiting for the first call…
            </span>
          )}
          <span className={styles.note}>
            {hasCome ? "your next calls arrive the same way" : "this page changes by itself"}
          </span>
        </div>
      </div>
      {error && (
        <div className={styles.error}>
          <ErrorNote what="The server could not be asked." error={error} />
        </div>
      )}
      <ul>
        <Check icon={<StatusIcon of={info.error ? "error" : "ok"} />} title="Server ready">
          {info.data && `version ${info.data.trace_server_version}`}
        </Check>
        {check.data === undefined && check.error === null ? (
          <Check icon={<StatusIcon of="running" />} title="Engine">
            it is asked
          </Check>
        ) : engine?.success === true ? (
          <Check icon={<StatusIcon of="ok" />} title="Engine ready" aside={formatDuration(engine.duration * 1000)}>
            heddle/tiny and every step that is trained can be asked
          </Check>
        ) : (
          <Check icon={<Icon of={TriangleAlert} className={styles.warn} />} title="The engine does not answer">
            {engine?.error ?? check.error?.message ?? "it starts"}. Traces are stored all the same.
          </Check>
        )}
        <Check icon={<StatusIcon of={pulse.exists ? "ok" : "queued"} />} title={`Project ${project.id}`}>
          {pulse.exists ? "is there" : "is made by the first call, or with the key"}
        </Check>
        {hasCome ? (
          <FirstThing project={project} pulse={pulse} />
        ) : (
          <Check icon={<Icon of={Radio} className={styles.accent} />} title="Listening" aside="live">
            /v1, /traces, /otel, /graphql
          </Check>
        )}
        {distinct(refused.data?.data ?? []).map(({ request, count }) => (
          <Check
            key={request.id}
            icon={<Icon of={TriangleAlert} name="refused" className={styles.warn} />}
            title={`Refused with ${request.status}: ${request.method} ${request.path}${count > 1 ? ` ×${count}` : ""}`}
            aside={<Time at={request.time} />}
          >
            {request.message}
          </Check>
        ))}
        <Check icon={<Icon of={CircleQuestionMark} className={styles.dim} />}>
          Nothing arrives? Requests that were refused stand here with the reason; to an administrator also those without
          a key.
        </Check>
      </ul>
    </aside>
  )
}

/** A client that tries again is told once. */
function distinct(requests: readonly RefusedRequest[]): { request: RefusedRequest; count: number }[] {
  const groups = Map.groupBy(requests, ({ status, method, path, message }) =>
    [status, method, path, message].join("\n"),
  )
  return [...groups.values()]
    .slice(0, mostRefused)
    .flatMap((alike) => alike.slice(0, 1).map((request) => ({ request, count: alike.length })))
}

function FirstThing({ project, pulse }: { project: CurrentProject; pulse: Pulse }) {
  const calls = useCalls(
    {
      project_id: project.id,
      sort_by: [{ field: "started_at", direction: "asc" }],
      limit: 1,
      columns: ["op_name", "display_name"],
    },
    { enabled: pulse.calls > 0 },
  )
  const [first] = calls.data ?? []
  if (first !== undefined) {
    return (
      <Check
        icon={<StatusIcon of="ok" />}
        title={`First call: ${callName(first)}`}
        aside={<Time at={first.started_at} />}
      >
        recorded as a trace
      </Check>
    )
  }
  if (pulse.requests > 0) {
    return (
      <Check icon={<StatusIcon of="ok" />} title={counted(pulse.requests, "chat request")}>
        answered and counted; nothing of what was said is kept
      </Check>
    )
  }
  if (pulse.models > 0) {
    return (
      <Check icon={<StatusIcon of="ok" />} title="First model">
        registered
      </Check>
    )
  }
  return (
    <Check icon={<StatusIcon of="ok" />} title="First run">
      its curves come as it logs
    </Check>
  )
}

interface CheckProps {
  icon: ReactNode
  title?: string
  aside?: ReactNode
  children: ReactNode
}

function Check({ icon, title, aside, children }: CheckProps) {
  return (
    <li className={styles.check}>
      {icon}
      <div className={styles.words}>
        {title !== undefined && <span className={styles.title}>{title}</span>}
        <span className={styles.note}>{children}</span>
      </div>
      <span className={styles.note}>{aside}</span>
    </li>
  )
}

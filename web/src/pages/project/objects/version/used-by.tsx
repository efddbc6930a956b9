/** Who uses this version: evaluations that name it, and calls that ran it or took it in. */
import { useCallCount, useCalls } from "../../../../api/calls/calls.ts"
import { type ObjectVersion, useObjectVersions } from "../../../../api/objects/object-versions.ts"
import { callName } from "../../../../calls/call-names.ts"
import { Time } from "../../../../components/signs/time.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { formatAtLeast } from "../../../../format/numbers.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { RailList, RailNote, RailSection } from "./rail-section.tsx"
import { RefLink } from "./ref-link.tsx"
import { readRef } from "../../../../objects/object-refs.ts"

interface UsedByProps {
  project: CurrentProject
  version: ObjectVersion
  /** Ref of this version. */
  refText: string
}

const newestCalls = 5
const mostCounted = 10_000
/** Evaluations are looked through for the ref; nobody reads about more of them here. */
const mostEvaluations = 200

export function UsedBy({ project, version, refText }: UsedByProps) {
  const filter = version.kind === "op" ? { op_names: [refText] } : { input_refs: [refText] }
  const count = useCallCount({ project_id: project.id, filter, limit: mostCounted })
  const calls = useCalls({
    project_id: project.id,
    filter,
    sort_by: [{ field: "started_at", direction: "desc" }],
    columns: ["op_name", "display_name", "started_at"],
    limit: newestCalls,
  })
  const evaluations = useObjectVersions({
    project_id: project.id,
    filter: { base_object_classes: ["Evaluation"], is_op: false },
    sort_by: [{ field: "created_at", direction: "desc" }],
    limit: mostEvaluations,
  })
  const users = (evaluations.data ?? []).filter(({ val }) => val.includes(`"${refText}"`))
  const failed = calls.error ?? evaluations.error ?? count.error
  const isRead = calls.data !== undefined && evaluations.data !== undefined
  const { params } = project
  return (
    <RailSection title={`Used by v${version.version_index}`}>
      {failed !== null && <ErrorNote what="Who uses it could not be read." error={failed} />}
      <RailList>
        {users.map(({ object_id: name, digest, version_index: index }) => {
          const ref = readRef(`weave:///${project.id}/object/${name}:v${index}`)
          return <li key={`${name}:${digest}`}>evaluation {ref !== null && <RefLink of={ref} />}</li>
        })}
        {calls.data?.map((call) => (
          <li key={call.id}>
            call{" "}
            <TextLink
              to="/$entity/$project/traces/$trace"
              params={{ ...params, trace: call.trace_id }}
              search={{ span: call.id }}
            >
              {callName(call)}
            </TextLink>{" "}
            <Time at={call.started_at} />
          </li>
        ))}
      </RailList>
      {isRead && users.length === 0 && calls.data.length === 0 && (
        <RailNote>No evaluation names it and no call {version.kind === "op" ? "ran it" : "took it in"}.</RailNote>
      )}
      {count.data !== undefined && count.data.count > newestCalls && (
        <RailNote>
          the newest of {formatAtLeast(count.data.count, !count.data.has_more)} calls that{" "}
          {version.kind === "op" ? "ran it" : "took it in"}
        </RailNote>
      )}
    </RailSection>
  )
}

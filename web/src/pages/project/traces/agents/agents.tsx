/** The agents of a project: what they did, how often it failed, what it cost. */
import { getRouteApi } from "@tanstack/react-router"
import type { SpanGroup } from "../../../../api/agents/span-groups.ts"
import { printFilter } from "../../../../calls/filter/filter-text.ts"
import type { Column } from "../../../../components/data-table/columns.ts"
import { Tag } from "../../../../components/signs/tag.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import type { tracesSearch } from "../traces-search.ts"
import { agentList, agentName } from "./group-list.ts"
import styles from "./agents.module.css"
import { Amount, costColumn, Failures, latencyColumns, latencySorts, tokensColumn } from "./group-figures.tsx"
import { GroupTable, useGroupSearch } from "./group-table.tsx"

const route = getRouteApi("/signed-in/$entity/$project/traces")

/** The API's sort field of each column. */
const sortFields = {
  time: "last_seen",
  invocations: "invocation_count",
  conversations: "conversation_count",
  errors: "error_count",
  ...latencySorts,
  cost: "total_cost_usd",
}

export function Agents({ project }: { project: CurrentProject }) {
  const { text, range, sort, sortBy, isNarrow } = useGroupSearch(sortFields)
  const { from, to } = route.useSearch()
  const navigate = route.useNavigate()
  const placeOf = (agent: SpanGroup) =>
    agent.conversation_count > 0
      ? { lens: "conversations" as const, agent: agentName(agent), from, to }
      : { ...callsOf(agent), from, to }
  const columns = agentColumns({
    project,
    isNarrow,
    placeOf,
    callsOf: (agent) => ({ ...callsOf(agent), from, to }),
  })
  return (
    <GroupTable
      project={project}
      lens="agents"
      list={agentList({ projectId: project.id, text, range, sortBy })}
      range={range.name}
      sort={sort}
      columns={columns}
      isNarrow={isNarrow}
      idOf={agentName}
      onOpen={(agent) => void navigate({ search: placeOf(agent) })}
    />
  )
}

/** Calls that name the agent, inside of traces too. */
function callsOf(agent: SpanGroup) {
  const values = [{ text: agentName(agent), isQuoted: true }]
  return { q: printFilter([{ field: "attributes.agent", operator: "is", values }]), scope: "all" as const }
}

type Place = ReturnType<typeof tracesSearch>

interface ColumnContext {
  project: CurrentProject
  isNarrow: boolean
  placeOf: (agent: SpanGroup) => Place
  callsOf: (agent: SpanGroup) => Place
}

/** Versions of one agent in a row; hovering shows all. */
const mostVersions = 2

function agentColumns({ project, isNarrow, placeOf, callsOf: calls }: ColumnContext): Column<SpanGroup>[] {
  const time: Column<SpanGroup> = {
    id: "time",
    title: "Last seen",
    width: 112,
    isSortable: true,
    cell: ({ last_seen }) => last_seen !== null && <Time at={last_seen} show="moment" />,
  }
  const name: Column<SpanGroup> = {
    id: "name",
    title: "Agent",
    width: isNarrow ? 130 : 220,
    cell: (agent) => (
      <span className={styles.name} title={agentName(agent)}>
        <TextLink isQuiet to="/$entity/$project/traces" params={project.params} search={placeOf(agent)}>
          {agentName(agent)}
        </TextLink>
      </span>
    ),
  }
  const invocations: Column<SpanGroup> = {
    id: "invocations",
    title: "Invocations",
    width: 100,
    isNumber: true,
    isSortable: true,
    cell: (agent) => (
      <TextLink isQuiet to="/$entity/$project/traces" params={project.params} search={calls(agent)}>
        <Amount of={agent.invocation_count} />
      </TextLink>
    ),
  }
  const errors: Column<SpanGroup> = {
    id: "errors",
    title: "Errors",
    width: isNarrow ? 62 : 72,
    isNumber: true,
    isSortable: true,
    cell: ({ error_count }) => <Failures count={error_count} />,
  }
  if (isNarrow) return [time, name, errors, costColumn]
  return [
    time,
    name,
    {
      id: "versions",
      title: "Versions",
      width: 120,
      cell: ({ agent_versions: versions }) => (
        <span className={styles.tags} title={versions.join(", ")}>
          {versions.slice(-mostVersions).map((version) => (
            <Tag key={version} isMono>
              {version}
            </Tag>
          ))}
          {versions.length > mostVersions && <span className={styles.more}>{versions.length - mostVersions} more</span>}
        </span>
      ),
    },
    invocations,
    {
      id: "conversations",
      title: "Conversations",
      width: 116,
      isNumber: true,
      isSortable: true,
      cell: (agent) =>
        agent.conversation_count === 0 ? (
          <Amount of={0} />
        ) : (
          <TextLink isQuiet to="/$entity/$project/traces" params={project.params} search={placeOf(agent)}>
            <Amount of={agent.conversation_count} />
          </TextLink>
        ),
    },
    errors,
    ...latencyColumns("Duration", 96),
    tokensColumn,
    costColumn,
    {
      id: "models",
      title: "Models",
      width: 148,
      cell: ({ request_models: models }) => (
        <span className={styles.tags} title={models.join(", ")}>
          {models.map((model) => (
            <Tag key={model} isMono>
              {model}
            </Tag>
          ))}
        </span>
      ),
    },
  ]
}

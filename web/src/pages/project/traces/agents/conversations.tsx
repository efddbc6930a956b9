/** The conversations of a project, the one in which something happened last first. */
import { getRouteApi } from "@tanstack/react-router"
import type { SpanGroup } from "../../../../api/agents/span-groups.ts"
import { Button } from "../../../../components/controls/button.tsx"
import type { Column } from "../../../../components/data-table/columns.ts"
import { ShortId } from "../../../../components/signs/figures.tsx"
import { Tag } from "../../../../components/signs/tag.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import styles from "./conversations.module.css"
import { Amount, costColumn, Failures, latencyColumns, latencySorts, tokensColumn } from "./group-figures.tsx"
import { conversationId, conversationList, conversationTitle, turnCount } from "./group-list.ts"
import { GroupTable, useGroupSearch } from "./group-table.tsx"

const route = getRouteApi("/signed-in/$entity/$project/traces")

/** The API's sort field of each column. */
const sortFields = {
  time: "last_seen",
  turns: "turns",
  errors: "error_count",
  ...latencySorts,
  cost: "total_cost_usd",
}

export function Conversations({ project }: { project: CurrentProject }) {
  const { agent, text, range, sort, sortBy, isNarrow } = useGroupSearch(sortFields)
  const navigate = route.useNavigate()
  return (
    <GroupTable
      project={project}
      lens="conversations"
      list={conversationList({ projectId: project.id, text, range, sortBy }, agent)}
      range={range.name}
      sort={sort}
      columns={conversationColumns(project, isNarrow)}
      isNarrow={isNarrow}
      idOf={conversationId}
      onOpen={(group) =>
        void navigate({
          to: "/$entity/$project/conversations/$id",
          params: { ...project.params, id: conversationId(group) },
        })
      }
      {...(agent === ""
        ? {}
        : {
            filter: (
              <p className={styles.filter}>
                <span className={styles.words}>
                  In which <b>{agent}</b> took part
                </span>
                <Button
                  size="small"
                  onClick={() => void navigate({ search: (before) => ({ ...before, agent: undefined }) })}
                >
                  Show all
                </Button>
              </p>
            ),
          })}
    />
  )
}

function conversationColumns(project: CurrentProject, isNarrow: boolean): Column<SpanGroup>[] {
  const time: Column<SpanGroup> = {
    id: "time",
    title: isNarrow ? "Last" : "Last activity",
    width: 112,
    isSortable: true,
    cell: ({ last_seen }) => last_seen !== null && <Time at={last_seen} show="moment" />,
  }
  const name: Column<SpanGroup> = {
    id: "name",
    title: "Conversation",
    width: isNarrow ? 200 : 300,
    grows: 3,
    cell: (group) => <Name project={project} group={group} />,
  }
  const turns: Column<SpanGroup> = {
    id: "turns",
    title: "Turns",
    width: 64,
    isNumber: true,
    isSortable: true,
    cell: (group) => <Amount of={turnCount(group)} />,
  }
  if (isNarrow) return [time, name, turns]
  return [
    time,
    name,
    {
      id: "answer",
      title: "Last answer",
      width: 210,
      grows: 2,
      cell: ({ last_message }) => <span className={styles.answer}>{last_message?.text}</span>,
    },
    {
      id: "agents",
      title: "Agents",
      width: 150,
      cell: ({ agent_names: names }) => (
        <span className={styles.tags} title={names.join(", ")}>
          {names.map((agent) => (
            <Tag key={agent}>{agent}</Tag>
          ))}
        </span>
      ),
    },
    turns,
    {
      id: "errors",
      title: "Errors",
      width: 72,
      isNumber: true,
      isSortable: true,
      cell: ({ error_count }) => <Failures count={error_count} />,
    },
    ...latencyColumns("Turn", 80),
    tokensColumn,
    costColumn,
  ]
}

function Name({ project, group }: { project: CurrentProject; group: SpanGroup }) {
  const [title, id] = [conversationTitle(group), conversationId(group)]
  return (
    <span className={styles.name} title={title}>
      <TextLink isQuiet to="/$entity/$project/conversations/$id" params={{ ...project.params, id }}>
        {title === "" ? <ShortId of={id} /> : title}
      </TextLink>
    </span>
  )
}

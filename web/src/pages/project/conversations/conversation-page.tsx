/** A conversation with agents: what all of it came to, and its turns as they were said. */
import { getRouteApi } from "@tanstack/react-router"
import { type SpanGroup, useSpanGroup } from "../../../api/agents/span-groups.ts"
import { useConversationTurns } from "../../../api/agents/conversation-turns.ts"
import { ApiError } from "../../../api/api-error.ts"
import { LinkButton } from "../../../components/controls/button.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { Empty } from "../../../components/states/empty.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { counted } from "../../../format/counted.ts"
import { formatMoney } from "../../../format/money.ts"
import { type CurrentProject, useProjectOfPage } from "../../../shell/current-project.ts"
import { NoProject } from "../no-project.tsx"
import { conversationQuery, conversationTitle, turnCount } from "../traces/agents/group-list.ts"
import { MoreRows } from "../training/more-rows.tsx"
import styles from "./conversation-page.module.css"
import { shownTurns } from "./turn-messages.ts"
import { Turn } from "./turn.tsx"

const route = getRouteApi("/signed-in/$entity/$project/conversations/$id")

export function ConversationPage() {
  const project = useProjectOfPage()
  const { id } = route.useParams()
  const summary = useSpanGroup(conversationQuery(project.id, id))
  const title = summary.data == null ? "" : conversationTitle(summary.data)
  const isUnknown = summary.error instanceof ApiError && summary.error.isNotFound
  return (
    <>
      <PageBar
        title={title === "" ? id : title}
        crumb={
          <TextLink to="/$entity/$project/traces" params={project.params} search={{ lens: "conversations" }}>
            Conversations
          </TextLink>
        }
      />
      {isUnknown ? (
        <NoProject project={project} />
      ) : (
        <Loaded query={summary} what="conversation">
          {(group) =>
            group === null ? (
              <Empty
                title="There is no such conversation here"
                actions={
                  <LinkButton
                    kind="primary"
                    to="/$entity/$project/traces"
                    params={project.params}
                    search={{ lens: "conversations" }}
                  >
                    All conversations
                  </LinkButton>
                }
              >
                No span of <b>{project.id}</b> names the conversation <code>{id}</code>. An exporter sends a span when
                it has ended; a conversation whose calls were all deleted is gone.
              </Empty>
            ) : (
              <Conversation key={id} project={project} id={id} group={group} />
            )
          }
        </Loaded>
      )}
    </>
  )
}

interface ConversationProps {
  project: CurrentProject
  id: string
  group: SpanGroup
}

function Conversation({ project, id, group }: ConversationProps) {
  const total = turnCount(group)
  const turns = useConversationTurns({ projectId: project.id, conversationId: id, total })
  const hasManyAgents = group.agent_names.length > 1
  return (
    <>
      <Facts project={project} group={group} />
      {/* The keyboard must reach what scrolls, which may hold no link. */}
      <div className={styles.turns} tabIndex={0} role="region" aria-label="Turns">
        <Loaded query={turns} what="turns">
          {(read) =>
            shownTurns(read).map((shown) => (
              <Turn key={shown.turn.trace_id} project={project} shown={shown} hasManyAgents={hasManyAgents} />
            ))
          }
        </Loaded>
        <MoreRows what={`turns, of ${total}`} query={turns} />
      </div>
    </>
  )
}

function Facts({ project, group }: Omit<ConversationProps, "id">) {
  const { agent_names, error_count, first_seen, last_seen, total_cost_usd } = group
  const tokens = group.total_input_tokens + group.total_output_tokens
  return (
    <ul className={styles.facts} aria-label="Of the whole conversation">
      {agent_names.map((agent) => (
        <li key={agent}>
          <TextLink to="/$entity/$project/traces" params={project.params} search={{ lens: "conversations", agent }}>
            {agent}
          </TextLink>
        </li>
      ))}
      <li>{counted(turnCount(group), "turn")}</li>
      {error_count > 0 && <li className={styles.failed}>{counted(error_count, "error")}</li>}
      <li>{counted(tokens, "token")}</li>
      <li>{formatMoney(total_cost_usd)}</li>
      {first_seen !== null && last_seen !== null && (
        <li>
          <Time at={first_seen} show="moment" /> – <Time at={last_seen} show="moment" />
        </li>
      )}
    </ul>
  )
}

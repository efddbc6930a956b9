/** One turn of a conversation: what was asked, done and answered, and what it took. Its trace has all the rest. */
import { Bot, FoldVertical } from "lucide-react"
import type { ChatMessage as AgentMessage } from "../../../api/agents/conversation-turns.ts"
import { Icon } from "../../../components/signs/icon.tsx"
import { Status } from "../../../components/signs/status.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { LongText } from "../../../components/text/long-text.tsx"
import { counted } from "../../../format/counted.ts"
import { formatDuration } from "../../../format/durations.ts"
import { formatMoney } from "../../../format/money.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { Message, ToolUse } from "../trace/chat-view.tsx"
import type { ShownTurn } from "./turn-messages.ts"
import styles from "./turn.module.css"

interface TurnProps {
  project: CurrentProject
  shown: ShownTurn
  /** Each answer says whose it is. */
  hasManyAgents: boolean
}

export function Turn({ project, shown: { number, turn, messages }, hasManyAgents }: TurnProps) {
  const { trace_id, started_at, total_duration_ms, total_cost_usd, status_code } = turn
  const tokens = turn.total_input_tokens + turn.total_output_tokens
  return (
    <section className={styles.turn} aria-label={`Turn ${number}`}>
      <div className={styles.head}>
        <h2 className={styles.number}>Turn {number}</h2>
        {started_at !== null && <Time at={started_at} show="moment" />}
        {status_code === "ERROR" && <Status of="error" />}
        <span className={styles.facts}>
          <span>{counted(tokens, "token")}</span>
          <span>{formatMoney(total_cost_usd)}</span>
          {total_duration_ms !== null && <span>{formatDuration(total_duration_ms)}</span>}
          <TextLink
            to="/$entity/$project/traces/$trace"
            params={{ ...project.params, trace: trace_id }}
            aria-label={`Trace of turn ${number}`}
          >
            Trace
          </TextLink>
        </span>
      </div>
      <ol className={styles.messages}>
        {messages.map((message, index) => (
          <Said key={index} project={project.id} message={message} hasManyAgents={hasManyAgents} />
        ))}
      </ol>
    </section>
  )
}

interface SaidProps {
  project: string
  message: AgentMessage
  hasManyAgents: boolean
}

function Said({ project, message, hasManyAgents }: SaidProps) {
  const { user_message, assistant_message, tool_call, agent_start, context_compacted, agent_name } = message
  const plain = { reasoning: "", toolCalls: [], otherParts: [], media: [] }
  if (user_message !== null) {
    const otherParts = user_message.content_refs.map(() => "attachment")
    const asked = { ...plain, role: "user", text: user_message.text, otherParts }
    return <Message project={project} message={asked} tools={0} isClamped />
  }
  if (assistant_message !== null) {
    const said = {
      ...plain,
      role: "assistant",
      text: assistant_message.text,
      reasoning: assistant_message.reasoning_content ?? "",
      otherParts: assistant_message.content_refs.map(() => "attachment"),
    }
    return (
      <Message
        project={project}
        message={said}
        tools={0}
        isClamped
        {...(hasManyAgents && agent_name !== null ? { name: agent_name } : {})}
        {...problemOf(message)}
      />
    )
  }
  if (tool_call !== null) {
    const { tool_name, tool_arguments, tool_result, duration_ms } = tool_call
    return (
      <ToolUse
        name={tool_name ?? "a tool"}
        given={tool_arguments}
        returned={tool_result}
        took={duration_ms}
        {...problemOf(message)}
      />
    )
  }
  if (agent_start !== null) return <Start message={message} />
  if (context_compacted !== null) return <Compacted of={context_compacted} />
  return null
}

function problemOf({ status_code, status_message, error_type }: AgentMessage): { problem?: string } {
  if (status_code !== "ERROR") return {}
  return { problem: [error_type, status_message].filter((text) => text !== null && text !== "").join(": ") }
}

function Start({ message: { agent_name, agent_version, agent_start } }: { message: AgentMessage }) {
  const instructions = agent_start?.system_instructions ?? ""
  const version = agent_version === null ? null : `version ${agent_version}`
  const words = [agent_name, version, agent_start?.model].filter((word) => word != null && word !== "").join(", ")
  return (
    <li className={styles.note}>
      <span className={styles.who}>
        <Icon of={Bot} size={14} />
        agent
      </span>
      {instructions === "" ? (
        <span>{words}</span>
      ) : (
        <details>
          <summary>
            {words}: instructions of {counted(instructions.length, "character")}
          </summary>
          <LongText text={instructions} />
        </details>
      )}
    </li>
  )
}

function Compacted({ of }: { of: NonNullable<AgentMessage["context_compacted"]> }) {
  const { compaction_summary: summary, compaction_items_before: before, compaction_items_after: after } = of
  return (
    <li className={styles.note}>
      <span className={styles.who}>
        <Icon of={FoldVertical} size={14} />
        compacted
      </span>
      <div>
        {before !== null && (
          <p>
            {counted(before, "item")} before{after !== null && `, ${after} after`}
          </p>
        )}
        {summary !== null && <LongText text={summary} />}
      </div>
    </li>
  )
}

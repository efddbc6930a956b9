/** A chat as it was said: who, what, and which tools were called. */
import { Bot, Image, type LucideIcon, Settings, User, Wrench } from "lucide-react"
import { useState } from "react"
import type { Chat, ChatMessage } from "../../../calls/chat-messages.ts"
import { Button } from "../../../components/controls/button.tsx"
import { Icon } from "../../../components/signs/icon.tsx"
import { StatusIcon } from "../../../components/signs/status.tsx"
import { Tag } from "../../../components/signs/tag.tsx"
import { Clamped } from "../../../components/text/clamped.tsx"
import { LongText } from "../../../components/text/long-text.tsx"
import { Markdown } from "../../../components/text/markdown.tsx"
import { counted } from "../../../format/counted.ts"
import { formatDuration } from "../../../format/durations.ts"
import type { Media } from "../../../media/media.ts"
import { kindOf } from "../../../media/media-types.ts"
import { formatCount } from "../../../format/numbers.ts"
import { MediaView } from "../media/media-view.tsx"
import styles from "./chat-view.module.css"
import { SaidBy } from "./said-by.tsx"

const icons: Record<string, LucideIcon> = {
  system: Settings,
  developer: Settings,
  user: User,
  assistant: Bot,
  tool: Wrench,
}

/** The middle of a longer chat is shown on demand. */
const endMessages = 30
/** Longer text is not read as Markdown, which would stop the page. */
const longestMarkdown = 50_000

/** `project` is the one whose files the messages name, as `entity/project`. */
export function ChatView({ project, chat }: { project: string; chat: Chat }) {
  const [isWhole, setWhole] = useState(false)
  const { messages } = chat
  const hidden = messages.length - 2 * endMessages
  const isCut = hidden > 0 && !isWhole
  const shown = isCut ? messages.slice(0, endMessages) : messages
  return (
    <ol className={styles.chat} aria-label="Chat">
      {shown.map((message, index) => (
        <Message key={index} project={project} message={message} tools={index === 0 ? chat.tools : 0} />
      ))}
      {isCut && (
        <>
          <li className={styles.more}>
            <Button onClick={() => setWhole(true)}>Show {formatCount(hidden)} more messages</Button>
          </li>
          {messages.slice(-endMessages).map((message, index) => (
            <Message key={messages.length - endMessages + index} project={project} message={message} tools={0} />
          ))}
        </>
      )}
    </ol>
  )
}

/** Instructions are long, and the same from call to call. */
const longInstructions = 400

interface MessageProps {
  project: string
  message: ChatMessage
  /** How many were offered. */
  tools: number
  /** Who said it, where the role does not tell. */
  name?: string
  /** A long text is cut until somebody asks for all of it. */
  isClamped?: boolean
  /** It failed, for this reason. */
  problem?: string
}

export function Message({ project, message, tools, name, isClamped = false, problem }: MessageProps) {
  const { role, text, reasoning, toolCalls, otherParts, media } = message
  const isInstruction = role === "system" || role === "developer"
  return (
    <SaidBy icon={icons[role] ?? User} name={name ?? role} title={name}>
      <div className={styles.said}>
        {reasoning !== "" && (
          <details>
            <summary className={styles.summary}>Thinking, {counted(reasoning.length, "character")}</summary>
            <LongText text={reasoning} />
          </details>
        )}
        {isInstruction && text.length > longInstructions ? (
          <details>
            <summary className={styles.summary}>Instructions, {counted(text.length, "character")}</summary>
            <Words text={text} role={role} />
          </details>
        ) : (
          text !== "" &&
          (isClamped ? (
            <Clamped text={text}>
              <Words text={text} role={role} />
            </Clamped>
          ) : (
            <Words text={text} role={role} />
          ))
        )}
        {problem !== undefined && <Problem text={problem} />}
        {tools > 0 && <p className={styles.note}>{counted(tools, "tool was", "tools were")} offered.</p>}
        {media.length > 0 && (
          <ul className={styles.media} aria-label={`Media of the ${role}`}>
            {media.map((one, index) => (
              <li key={index}>
                <MediaView project={project} media={one} place={wordOf(one)} />
              </li>
            ))}
          </ul>
        )}
        {otherParts.map((part, index) => (
          <Tag key={index} icon={Image}>
            {part}
          </Tag>
        ))}
        {toolCalls.map((call, index) => (
          <div key={index} className={styles.call}>
            <div className={styles.callHead}>
              <Icon of={Wrench} size={12} /> <b>{call.name}</b>
            </div>
            <pre className={styles.code} tabIndex={0} aria-label={`Arguments of ${call.name}`}>
              {call.arguments}
            </pre>
          </div>
        ))}
      </div>
    </SaidBy>
  )
}

interface ToolUseProps {
  name: string
  /** null: it is not known. */
  given: string | null
  returned: string | null
  /** Milliseconds. */
  took: number | null
  /** It failed, for this reason. */
  problem?: string
}

/** A tool that was called, with what it was given and what it returned folded away. */
export function ToolUse({ name, given, returned, took, problem }: ToolUseProps) {
  return (
    <SaidBy icon={Wrench} name="tool">
      <div className={styles.said}>
        <details className={styles.use}>
          <summary className={styles.summary}>
            <b>{name}</b>
            {took !== null && <span className={styles.note}> {formatDuration(took)}</span>}
          </summary>
          <p className={styles.note}>Arguments</p>
          <pre className={styles.result} tabIndex={0} aria-label={`Arguments of ${name}`}>
            {given ?? "not recorded"}
          </pre>
          <p className={styles.note}>Result</p>
          <pre className={styles.result} tabIndex={0} aria-label={`Result of ${name}`}>
            {returned ?? "not recorded"}
          </pre>
        </details>
        {problem !== undefined && <Problem text={problem} />}
      </div>
    </SaidBy>
  )
}

function Problem({ text }: { text: string }) {
  return (
    <p className={styles.problem}>
      <StatusIcon of="error" name="error" />
      <span>{text === "" ? "failed" : text}</span>
    </p>
  )
}

/** Its place in the JSON says nothing here: it stands where it was said. */
function wordOf({ type, name, source }: Media): string {
  if (source.at === "link") return "link"
  if (name !== "") return name
  const kind = kindOf(type)
  return kind === "markdown" ? "text" : kind
}

function Words({ text, role }: { text: string; role: string }) {
  if (role === "tool") {
    return (
      <pre className={styles.result} tabIndex={0} aria-label="Result of the tool">
        {text}
      </pre>
    )
  }
  return role === "assistant" && text.length <= longestMarkdown ? <Markdown text={text} /> : <LongText text={text} />
}

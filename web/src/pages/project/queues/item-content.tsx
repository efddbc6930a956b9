/** The call to judge, as a conversation or as the parts that its queue shows. */
import type { Call } from "../../../api/calls/calls.ts"
import { callName } from "../../../calls/call-names.ts"
import { callFacts } from "../../../calls/call-summary.ts"
import { chatOf } from "../../../calls/chat-messages.ts"
import { valueAt } from "../../../calls/payload-path.ts"
import { JsonViewer } from "../../../components/json/json-viewer.tsx"
import { Tag } from "../../../components/signs/tag.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { LongText } from "../../../components/text/long-text.tsx"
import { Markdown } from "../../../components/text/markdown.tsx"
import { type JsonText, memberTexts } from "../../../json/json-text.ts"
import { Message } from "../trace/chat-view.tsx"
import styles from "./item-content.module.css"

interface ItemContentProps {
  call: Call
  /** Paths such as `inputs.question`; none: everything. */
  displayFields: readonly string[]
  /** Names of models are hidden. */
  isBlind: boolean
}

/** Longer text is not read as Markdown, which would stop the page. */
const longestMarkdown = 50_000
const largestChat = 2_000_000
const jsonHeight = 260
const shortJson = 400

export function ItemContent({ call, displayFields, isBlind }: ItemContentProps) {
  const models = isBlind ? [] : (callFacts(call.summary).tokens?.models ?? [])
  return (
    <>
      <p className={styles.meta}>
        <span>{callName(call)}</span>
        <Time at={call.started_at} />
        {models.map((model) => (
          <Tag key={model} isMono>
            {model}
          </Tag>
        ))}
        {call.exception != null && <Tag kind="bad">failed</Tag>}
      </p>
      <Content call={call} displayFields={displayFields} isBlind={isBlind} />
    </>
  )
}

function Content({ call, displayFields, isBlind }: ItemContentProps) {
  const wanted = displayFields.length === 0 ? ["inputs", "output"] : displayFields
  const isWhole = wanted.every((path) => ["inputs", "inputs.messages", "output"].includes(path))
  const isSmall = call.inputs.length + call.output.length <= largestChat
  const chat = isWhole && isSmall ? chatOf(call.inputs, call.output) : null
  if (chat === null) {
    return wanted.map((path) => <Part key={path} path={path} call={call} isBlind={isBlind} />)
  }
  const prompt = chat.messages.slice(0, chat.messages.length - chat.answered)
  const answers = wanted.includes("output") ? chat.messages.slice(prompt.length) : []
  return (
    <>
      <ol className={styles.chat} aria-label="Conversation">
        {prompt.map((message, index) => (
          <Message key={index} project={call.project_id} message={message} tools={index === 0 ? chat.tools : 0} />
        ))}
      </ol>
      {answers.length > 0 && (
        <ol className={styles.answer} aria-label="Answer to label">
          {answers.map((message, index) => (
            <Message key={index} project={call.project_id} message={message} tools={0} />
          ))}
        </ol>
      )}
    </>
  )
}

interface PartProps {
  path: string
  call: Call
  isBlind: boolean
}

function Part({ path, call, isBlind }: PartProps) {
  const text = partOf(call, path, isBlind)
  const isOutput = path.startsWith("output")
  return (
    <section className={isOutput ? styles.shownOutput : styles.shown} aria-label={path}>
      <h2 className={styles.path}>{path}</h2>
      {text === null ? (
        <p className={styles.none}>nothing</p>
      ) : (
        <Value label={path} text={text} isMarkdown={isOutput} />
      )}
    </section>
  )
}

function Value({ label, text, isMarkdown }: { label: string; text: JsonText; isMarkdown: boolean }) {
  const words = text.startsWith('"') ? (JSON.parse(text) as string) : null
  if (words === null) {
    if (text.length <= shortJson && !/^[[{]/.test(text)) return <code className={styles.code}>{text}</code>
    return <JsonViewer label={label} text={text} height={jsonHeight} />
  }
  return isMarkdown && words.length <= longestMarkdown ? <Markdown text={words} /> : <LongText text={words} />
}

/** JSON text of what a path names; null: it is not there. */
function partOf(call: Call, path: string, isBlind: boolean): JsonText | null {
  const [head = "", ...rest] = path.split(".")
  if (head !== "inputs" && head !== "output") return null
  const payload = isBlind ? withoutModel(call[head]) : call[head]
  const value = valueAt(payload, rest)
  if (value === null || rest.length > 0) return value
  // A single member that is text is shown without its name: `{"question": "…"}`.
  const members = value.startsWith("{") ? [...memberTexts(value).values()] : []
  return members.length === 1 && members[0]?.startsWith('"') === true ? members[0] : value
}

function withoutModel(payload: JsonText): JsonText {
  if (!payload.startsWith("{")) return payload
  const members = [...memberTexts(payload)].filter(([name]) => name !== "model")
  return `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}` as JsonText
}

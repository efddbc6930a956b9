/** Details of one call: conversation, input and output, error, usage and feedback. */
import { useNavigate } from "@tanstack/react-router"
import { Check, ChevronDown, ChevronUp, CodeXml, GitCompareArrows, MessageSquare } from "lucide-react"
import { type ReactNode, useState } from "react"
import { type Call, useCallUsage } from "../../../api/calls/calls.ts"
import { findCallBefore } from "../../../api/calls/find-call.ts"
import { useWholeCall } from "../../../api/calls/trace-calls.ts"
import { serverUrl } from "../../../base-path.ts"
import { callDuration, callStatus } from "../../../calls/call-names.ts"
import { callFacts, type TokenCount, tokensOfUsage } from "../../../calls/call-summary.ts"
import { chatOf } from "../../../calls/chat-messages.ts"
import { curlOfCall, pythonOfCall } from "../../../calls/read-call-code.ts"
import type { Span } from "../../../calls/trace-tree.ts"
import { classNames } from "../../../components/class-names.ts"
import { Button, LinkButton } from "../../../components/controls/button.tsx"
import { CopyButton } from "../../../components/controls/copy-button.tsx"
import { useCopy } from "../../../components/controls/use-copy.ts"
import { Menu, MenuItem } from "../../../components/layers/menu.tsx"
import { type TabItem, Tabs } from "../../../components/layout/tabs.tsx"
import { Icon } from "../../../components/signs/icon.tsx"
import { Status } from "../../../components/signs/status.tsx"
import { Tag } from "../../../components/signs/tag.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { Note } from "../../../components/states/note.tsx"
import { SkeletonRows } from "../../../components/states/skeleton.tsx"
import { nounOf } from "../../../format/counted.ts"
import { formatDuration } from "../../../format/durations.ts"
import { formatMoney } from "../../../format/money.ts"
import { formatExact } from "../../../format/numbers.ts"
import { formatBytes } from "../../../format/sizes.ts"
import { formatMoment, formatWholeTime } from "../../../format/times.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { useWhileShown } from "../../../url/use-while-shown.ts"
import { CallCode } from "./call-code.tsx"
import styles from "./call-details.module.css"
import { CallFacts } from "./call-facts.tsx"
import { CallFeedback } from "./call-feedback.tsx"
import { Half, InputView, OutputView } from "./call-payloads.tsx"
import { ChatView } from "./chat-view.tsx"
import { Failure } from "./failure.tsx"
import { kindSigns } from "./kind-signs.ts"
import type { TraceTab } from "./trace-search.ts"

interface CallDetailsProps {
  project: CurrentProject
  span: Span
  /** undefined: the one that says most. */
  tab: TraceTab | undefined
  onTab: (tab: TraceTab) => void
  onStep: (step: 1 | -1) => void
}

const runningMs = 2_000
/** A larger chat is shown as JSON, which opens on demand. */
const largestChat = 2_000_000

export function CallDetails({ project, span, tab, onTab, onStep }: CallDetailsProps) {
  const query = useWholeCall(project.id, span.id, runningMs)
  const call = query.data?.[0]
  const { icon, color, name } = kindSigns[span.kind]
  return (
    <section className={styles.pane} aria-label="Selected call">
      <div className={styles.head}>
        <span className={styles.kind} style={{ color: `var(--${color})` }}>
          <Icon of={icon} name={name} />
        </span>
        <h2 className={styles.name} title={span.name}>
          {span.name}
        </h2>
        {call !== undefined && <Status of={callStatus(call)} />}
        <span className={styles.tools}>
          <span className={classNames(styles.copy, styles.wideOnly)}>
            id <CopyButton text={span.id} label="Copy the id of the call" />
          </span>
          <CopyLink />
          <CopyCode project={project} callId={span.id} />
          {call !== undefined && <CompareBefore project={project} call={call} />}
          <Button size="small" kind="quiet" icon={ChevronUp} aria-label="Previous call" onClick={() => onStep(-1)} />
          <Button size="small" kind="quiet" icon={ChevronDown} aria-label="Next call" onClick={() => onStep(1)} />
        </span>
      </div>
      {query.error !== null && (
        <div className={styles.error}>
          <ErrorNote what="The call could not be read." error={query.error} onRetry={() => void query.refetch()} />
        </div>
      )}
      {call !== undefined ? (
        <Read project={project} call={call} hasInside={span.children.length > 0} tab={tab} onTab={onTab} />
      ) : query.isSuccess ? (
        <div className={styles.error}>
          <Note title="The call is gone.">It was deleted while the trace was open.</Note>
        </div>
      ) : (
        query.error === null && <SkeletonRows what="Reading the call" rows={8} />
      )}
    </section>
  )
}

/** The previous call of the same function: where an answer got worse, that is the first question. */
function CompareBefore({ project, call }: { project: CurrentProject; call: Call }) {
  const navigate = useNavigate()
  const whileShown = useWhileShown()
  const [problem, setProblem] = useState<string | null>(null)
  const compare = async () => {
    try {
      const before = await findCallBefore(project.id, call)
      if (before === null) return setProblem("It is the first of its kind.")
      const search = { calls: [before, call.id] }
      await whileShown(() => navigate({ to: "/$entity/$project/traces/compare", params: project.params, search }))
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  return (
    <span className={classNames(styles.copy, styles.wideOnly)}>
      {problem !== null && <span role="status">{problem}</span>}
      <Button
        size="small"
        kind="quiet"
        icon={GitCompareArrows}
        aria-label="Compare with the one before"
        title="Compare with the call of the same function before"
        onClick={() => void compare()}
      />
    </span>
  )
}

function CopyLink() {
  return (
    <span className={styles.copy}>
      <span className={styles.wideOnly}>link</span>{" "}
      <CopyButton text={window.location.href} label="Copy the link to the call" />
    </span>
  )
}

/** Code that reads the call by the API. */
function CopyCode({ project, callId }: { project: CurrentProject; callId: string }) {
  const { state, copy } = useCopy()
  const place = { server: serverUrl, projectId: project.id, callId }
  return (
    <span className={classNames(styles.copy, styles.wideOnly)}>
      {state === "failed" && <span role="status">Not allowed here</span>}
      <Menu
        size="small"
        kind="quiet"
        icon={state === "copied" ? Check : CodeXml}
        label={state === "copied" ? "Copied" : "Copy code that reads the call"}
        items={
          <>
            <MenuItem onAction={() => copy(curlOfCall(place))}>Copy as curl</MenuItem>
            <MenuItem onAction={() => copy(pythonOfCall(place))}>Copy as Python</MenuItem>
          </>
        }
      />
    </span>
  )
}

interface ReadProps extends Pick<CallDetailsProps, "project" | "tab" | "onTab"> {
  call: Call
  hasInside: boolean
}

function Read({ project, call, hasInside, tab, onTab }: ReadProps) {
  // A user who writes a note may look at the other tabs meanwhile.
  const [note, setNote] = useState("")
  const facts = callFacts(call.summary)
  const isChat = call.inputs.length + call.output.length <= largestChat
  const chat = isChat ? chatOf(call.inputs, call.output) : null
  const isOpRef = call.op_name.startsWith("weave:///")
  const tabs: TabItem<TraceTab>[] = [
    chat === null ? { id: "both", label: "Input and output" } : { id: "chat", label: "Chat" },
    { id: "input", label: "Input" },
    { id: "output", label: "Output" },
    { id: "feedback", label: "Feedback", ...(facts.feedback.length > 0 ? { count: facts.feedback.length } : {}) },
    { id: "details", label: "Details" },
    ...(isOpRef ? [{ id: "code" as const, label: "Code" }] : []),
  ]
  const open = tabs.find(({ id }) => id === tab)?.id ?? (chat === null ? "both" : "chat")
  return (
    <>
      <Figures project={project} call={call} hasInside={hasInside} own={facts.tokens} />
      {call.exception != null && <Failure exception={call.exception} />}
      <Tabs label="Parts of the call" tabs={tabs} open={open} onOpen={onTab} isFilling>
        <div className={styles.body}>
          {open === "chat" && chat !== null && (
            <>
              <OpenInPlayground project={project} callId={call.id} />
              <ChatView project={call.project_id} chat={chat} />
            </>
          )}
          {open === "both" && (
            <>
              <Half title="Input">
                <InputView call={call} />
              </Half>
              <Half title="Output">
                <OutputView call={call} />
              </Half>
            </>
          )}
          {open === "input" && <InputView call={call} />}
          {open === "output" && <OutputView call={call} />}
          {open === "feedback" && (
            <CallFeedback project={project} callId={call.id} marks={facts.feedback} note={note} onNote={setNote} />
          )}
          {open === "details" && <CallFacts call={call} />}
          {open === "code" && <CallCode opRef={call.op_name} />}
        </div>
      </Tabs>
    </>
  )
}

/** Its messages, tools and parameters, to be asked of any model. */
function OpenInPlayground({ project, callId }: { project: CurrentProject; callId: string }) {
  return (
    <div className={styles.goOn}>
      <LinkButton
        size="small"
        icon={MessageSquare}
        to="/$entity/$project/playground/{-$conversation}"
        params={project.params}
        search={{ from: callId }}
      >
        Open in playground
      </LinkButton>
    </div>
  )
}

interface FiguresProps extends Pick<ReadProps, "project" | "call" | "hasInside"> {
  own: TokenCount | null
}

function Figures({ project, call, hasInside, own }: FiguresProps) {
  const usage = useCallUsage(
    { project_id: project.id, call_ids: [call.id], include_costs: true, limit: 100_000 },
    { enabled: hasInside && own === null },
  )
  const tokens = own ?? tokensOfUsage(usage.data?.call_usage[call.id])
  const duration = callDuration(call)
  return (
    <dl className={styles.figures}>
      <Figure name="Started">
        <time dateTime={call.started_at} title={formatWholeTime(new Date(call.started_at))}>
          {formatMoment(new Date(call.started_at), {}, true)}
        </time>
      </Figure>
      <Figure name="Duration">{duration === null ? "runs still" : formatDuration(duration)}</Figure>
      {tokens !== null && (
        <>
          <Figure name={own === null ? "Tokens inside" : "Tokens"}>
            {formatExact(tokens.input)} <small>in{tokens.cached > 0 && `, ${formatExact(tokens.cached)} cached`}</small>{" "}
            + {formatExact(tokens.output)} <small>out</small>
          </Figure>
          <Figure name="Cost">{formatMoney(tokens.cost)}</Figure>
          <Figure name={nounOf(tokens.models.length, "Model")}>
            {tokens.models.map((model) => (
              <Tag key={model} isMono title={model}>
                {model}
              </Tag>
            ))}
          </Figure>
        </>
      )}
      {call.storage_size_bytes !== null && <Figure name="Size">{formatBytes(call.storage_size_bytes)}</Figure>}
    </dl>
  )
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

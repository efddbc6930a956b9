/** One model: what it was told after the prompt, what it answered, how quickly, and what can be done with the answer. */
import { ChevronDown, CircleStop, Database, Pencil, RotateCcw, ThumbsDown, ThumbsUp, X } from "lucide-react"
import { type ReactNode, useState } from "react"
import { useGiveFeedback } from "../../../api/calls/feedback.ts"
import type { ChatModels } from "../../../api/chat/playground-models.ts"
import { useNow } from "../../../clock/use-now.ts"
import { Button } from "../../../components/controls/button.tsx"
import { CopyButton } from "../../../components/controls/copy-button.tsx"
import { Icon } from "../../../components/signs/icon.tsx"
import { Tag } from "../../../components/signs/tag.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import { Note } from "../../../components/states/note.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { formatDuration } from "../../../format/durations.ts"
import { formatExact, formatScore } from "../../../format/numbers.ts"
import { forkAt, tokensPerSecond } from "../../../playground/answer-collector.ts"
import {
  type Answer,
  promptBefore,
  type Column,
  type Conversation,
  lastAnswer,
  openToolCalls,
  type SampledToken,
  type Turn,
} from "../../../playground/conversation.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { AnswerText } from "./answer-text.tsx"
import { ModelPicker } from "./model-picker.tsx"
import type { AnswerColor } from "./playground-search.ts"
import { SaveRow } from "./save-row.tsx"
import { ToolCalls, ToolResults } from "./tool-calls.tsx"
import styles from "./answer-column.module.css"

export interface ColumnActions {
  setModel: (model: string) => void
  remove: () => void
  stop: () => void
  setTurns: (turns: Turn[]) => void
  /** Asks the model after these turns. */
  goOn: (turns: Turn[]) => void
  /** Asks it to end an answer that is begun. */
  fork: (turns: Turn[], begun: { text: string; tokens: SampledToken[] }) => void
}

interface AnswerColumnProps {
  project: CurrentProject
  conversation: Conversation
  index: number
  /** Where it stands, from the left. */
  place: number
  /** A name in place of the model's while a vote is blind. */
  hiddenAs: string | null
  color: AnswerColor
  /** The column that stands first. */
  first: Column | undefined
  models: ChatModels
  actions: ColumnActions
  /** null: there is nothing to vote on. */
  onBetter: (() => void) | null
}

export function AnswerColumn(props: AnswerColumnProps) {
  const { project, conversation, index, place, hiddenAs, color, first, models, actions, onBetter } = props
  const [saved, setSaved] = useState<number | null>(null)
  const column = conversation.columns[index]
  if (column === undefined) return null
  const { model, turns } = column
  const last = lastAnswer(column)
  const isRunning = last?.answer.state === "running"
  const calls = isRunning ? [] : openToolCalls(column)
  const compared = place > 0 && color === "difference" ? (first?.turns ?? []) : null
  const name = hiddenAs ?? model
  return (
    <section className={styles.column} aria-label={name}>
      <div className={styles.head}>
        {hiddenAs === null ? (
          <ModelPicker
            models={models}
            label={`Another model in place of ${model}`}
            look={{ kind: "quiet", children: <ModelName of={model} /> }}
            onChoose={actions.setModel}
          />
        ) : (
          <b className={styles.hidden}>{hiddenAs}</b>
        )}
        <span className={styles.tools}>
          {isRunning && (
            <Button size="small" kind="quiet" icon={CircleStop} onClick={actions.stop}>
              Stop
            </Button>
          )}
          {hiddenAs === null && (
            <Button size="small" kind="quiet" icon={X} aria-label={`Take ${model} away`} onClick={actions.remove} />
          )}
        </span>
      </div>
      <Figures answer={last?.answer ?? null} isHidden={hiddenAs !== null} />
      <div
        className={styles.turns}
        tabIndex={0}
        role="group"
        aria-label={`What ${name} was told and said`}
        aria-busy={isRunning}
      >
        {turns.length === 0 && <p className={styles.none}>Its answer shows here.</p>}
        {turns.map((turn, at) => (
          <ColumnTurn
            key={at}
            turn={turn}
            color={color}
            compared={compared?.[at]?.text ?? null}
            isLast={at === turns.length - 1}
            onEdit={(text) => {
              const before = turns.slice(0, at)
              // An edited answer is corrected in place; an edited question is sent again.
              if (turn.role === "assistant") actions.setTurns([...before, corrected(turn, text)])
              else actions.goOn([...before, { ...turn, text }])
            }}
            onAgain={() => actions.goOn(turns.slice(0, at))}
            onFork={(token, other) => {
              const tokens = forkAt(turn.answer?.tokens ?? [], token, other)
              actions.fork(turns.slice(0, at), { text: tokens.map(({ text }) => text).join(""), tokens })
            }}
          />
        ))}
        {calls.length > 0 && (
          <ToolResults
            key={`${turns.length} ${calls.map(({ id }) => id).join()}`}
            calls={calls}
            onSend={(results) => actions.goOn([...turns, ...results])}
          />
        )}
      </div>
      <div className={styles.foot}>
        {last === null || last.answer.state === "running" || last.answer.state === "failed" ? (
          <span className={styles.dim}>{last?.answer.state === "running" ? "answers…" : "no answer to judge"}</span>
        ) : (
          <>
            {onBetter !== null && (
              <Button size="small" keys={`${place + 1}`} onClick={onBetter}>
                Better
              </Button>
            )}
            <Marks
              project={project}
              answer={last.answer}
              onMarked={(mark) =>
                actions.setTurns([...turns.slice(0, -1), { ...last, answer: { ...last.answer, mark } }])
              }
            />
            <Button size="small" kind="quiet" icon={Database} onClick={() => setSaved(turns.length - 1)}>
              To dataset
            </Button>
            {last.answer.verdict !== undefined && (
              <Tag kind={last.answer.verdict === "better" ? "good" : "plain"}>{verdictWords[last.answer.verdict]}</Tag>
            )}
            {hiddenAs === null && last.answer.traceId !== null && last.answer.callId !== null && (
              <span className={styles.end}>
                <TextLink
                  to="/$entity/$project/traces/$trace"
                  params={{ entity: project.entity, project: project.project, trace: last.answer.traceId }}
                  search={{ span: last.answer.callId }}
                >
                  trace
                </TextLink>
              </span>
            )}
          </>
        )}
      </div>
      {saved !== null && turns[saved] !== undefined && (
        <SaveRow
          project={project}
          prompt={promptBefore(conversation, index, saved)}
          answer={turns[saved]}
          tools={conversation.tools}
          onClose={() => setSaved(null)}
        />
      )}
    </section>
  )
}

const verdictWords = { better: "better", worse: "worse", equal: "no difference" }

function ModelName({ of: model }: { of: string }) {
  return (
    <>
      <span className={styles.model}>{shownName(model)}</span>
      <Icon of={ChevronDown} size={12} />
    </>
  )
}

/** Models of a project by what tells them apart. */
function shownName(model: string): string {
  return model.replace(/^wandb-artifact:\/\/\/?[^/]+\/[^/]+\//, "")
}

/** An edited text has no tokens. */
function corrected(turn: Turn, text: string): Turn {
  return turn.answer === undefined ? { ...turn, text } : { ...turn, text, answer: { ...turn.answer, tokens: [] } }
}

function Figures({ answer, isHidden }: { answer: Answer | null; isHidden: boolean }) {
  const speed = answer === null ? null : tokensPerSecond(answer)
  const shown = (text: string | null) => (isHidden ? "hidden" : (text ?? "–"))
  const count = answer === null ? null : (answer.usage?.output ?? answer.tokens.length)
  return (
    <dl className={styles.figures}>
      <Figure name="first token">
        {shown(answer?.firstTokenMs == null ? null : formatDuration(answer.firstTokenMs))}
      </Figure>
      <Figure name="tokens in">{shown(answer?.usage == null ? null : formatExact(answer.usage.input))}</Figure>
      <Figure name="tokens out">
        {shown(count === null || (count === 0 && answer?.usage == null) ? null : formatExact(count))}
      </Figure>
      <Figure name="tokens/s">{shown(speed === null ? null : formatScore(speed, 1))}</Figure>
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

interface ColumnTurnProps {
  turn: Turn
  color: AnswerColor
  compared: string | null
  isLast: boolean
  onEdit: (text: string) => void
  onAgain: () => void
  onFork: (token: number, other: string) => void
}

function ColumnTurn({ turn, color, compared, isLast, onEdit, onAgain, onFork }: ColumnTurnProps) {
  const [edited, setEdited] = useState<string | null>(null)
  const { role, text, toolCalls, answer } = turn
  const isAnswer = role === "assistant"
  const isRunning = answer?.state === "running"
  if (edited !== null) {
    return (
      <form
        className={styles.edit}
        onSubmit={(event) => {
          event.preventDefault()
          onEdit(edited)
          setEdited(null)
        }}
      >
        <textarea
          className={styles.editText}
          aria-label={isAnswer ? "The answer as it should be" : `The ${role}'s message`}
          autoFocus
          rows={4}
          value={edited}
          onChange={(event) => setEdited(event.target.value)}
        />
        <span className={styles.row}>
          <Button size="small" kind="primary" type="submit">
            {isAnswer ? "Put right" : "Run from here"}
          </Button>
          <Button size="small" onClick={() => setEdited(null)}>
            Leave it
          </Button>
        </span>
      </form>
    )
  }
  return (
    <div className={isAnswer ? styles.said : styles.told}>
      {!isAnswer && <span className={styles.who}>{role}</span>}
      {answer !== undefined && answer.reasoning !== "" && (
        <details className={styles.reasoning} open={isRunning && text === ""}>
          <summary>Thinking</summary>
          {answer.reasoning}
        </details>
      )}
      {isAnswer ? (
        <AnswerText turn={turn} color={color} compared={compared} onFork={onFork} />
      ) : (
        <p className={styles.plain}>{text}</p>
      )}
      {toolCalls !== undefined && <ToolCalls calls={toolCalls} />}
      {answer?.state === "stopped" && <p className={styles.dim}>Stopped here.</p>}
      {answer?.finish === "length" && <p className={styles.dim}>Cut off: it had no more tokens.</p>}
      {answer?.failure != null && <FailureNote failure={answer.failure} onAgain={onAgain} />}
      {!isRunning && (
        <span className={styles.turnTools}>
          {(isAnswer ? answer?.state !== "failed" : role === "user") && (
            <Button size="small" kind="quiet" icon={Pencil} onClick={() => setEdited(text)}>
              Edit
            </Button>
          )}
          {isAnswer && answer?.state !== "failed" && (
            <Button
              size="small"
              kind="quiet"
              icon={RotateCcw}
              title={isLast ? undefined : "Takes away what follows"}
              onClick={onAgain}
            >
              Ask again
            </Button>
          )}
          {isAnswer && text !== "" && <CopyButton text={text} label="Copy the answer" />}
        </span>
      )}
    </div>
  )
}

const failureTitles: Record<string, string> = {
  context_length_exceeded: "The conversation is too long for this model.",
  model_not_found: "There is no such model here.",
  rate_limit_exceeded: "Too much is asked at once.",
  engine_overloaded: "The engine is busy.",
  engine_unavailable: "The engine is away.",
  offline: "The server does not answer.",
  forbidden: "Your role does not allow it.",
}

/** The other columns are not touched by it. */
function FailureNote({ failure, onAgain }: { failure: NonNullable<Answer["failure"]>; onAgain: () => void }) {
  const now = useNow(1)
  const left = failure.retryAt === null ? 0 : Math.ceil((failure.retryAt - now) / 1000)
  return (
    <Note
      kind="bad"
      title={failureTitles[failure.code] ?? "The model did not answer."}
      actions={
        <>
          <Button size="small" icon={RotateCcw} disabled={left > 0} onClick={onAgain}>
            {left > 0 ? `Ask again in ${left} s` : "Ask again"}
          </Button>
          {failure.requestId !== null && (
            <span className={styles.dim}>
              request <code>{failure.requestId.slice(0, 8)}</code>{" "}
              <CopyButton text={failure.requestId} label="Copy the request's id" />
            </span>
          )}
        </>
      }
    >
      {failure.message}
    </Note>
  )
}

interface MarksProps {
  project: CurrentProject
  answer: Answer
  onMarked: (mark: "good" | "bad") => void
}

/** As feedback on the recorded call. */
function Marks({ project, answer: { callId, mark }, onMarked }: MarksProps) {
  const give = useGiveFeedback()
  if (callId === null) return null
  const react = (kind: "good" | "bad") => {
    const emoji = kind === "good" ? "👍" : "👎"
    give.mutate(
      {
        project_id: project.id,
        weave_ref: `weave:///${project.id}/call/${callId}`,
        feedback_type: "wandb.reaction.1",
        payload: { emoji, alias: emoji, detoned: emoji, detoned_alias: emoji },
      },
      { onSuccess: () => onMarked(kind) },
    )
  }
  return (
    <>
      <Button
        size="small"
        icon={ThumbsUp}
        aria-label="Good"
        isOn={mark === "good"}
        disabled={give.isPending || mark !== undefined}
        onClick={() => react("good")}
      />
      <Button
        size="small"
        icon={ThumbsDown}
        aria-label="Bad"
        isOn={mark === "bad"}
        disabled={give.isPending || mark !== undefined}
        onClick={() => react("bad")}
      />
      {give.error !== null && <ErrorNote what="The mark was not stored." error={give.error} />}
    </>
  )
}

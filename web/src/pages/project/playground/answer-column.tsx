/** One model: what it was told after the prompt, what it answered, how quickly, and what can be done with the answer. */
import { ChevronDown, CircleStop, Database, X } from "lucide-react"
import { useState } from "react"
import type { ChatModels } from "../../../api/chat/playground-models.ts"
import { Button } from "../../../components/controls/button.tsx"
import { Icon } from "../../../components/signs/icon.tsx"
import { Tag } from "../../../components/signs/tag.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { forkAt } from "../../../playground/answer-collector.ts"
import {
  promptBefore,
  type Column,
  type Conversation,
  lastAnswer,
  openToolCalls,
  type SampledToken,
  type Turn,
} from "../../../playground/conversation.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import { AnswerFigures } from "./answer-figures.tsx"
import { AnswerMarks } from "./answer-marks.tsx"
import { AnswerTurn } from "./answer-turn.tsx"
import { ModelPicker } from "./model-picker.tsx"
import type { AnswerColor } from "./playground-search.ts"
import { SaveRow } from "./save-row.tsx"
import { ToolResults } from "./tool-calls.tsx"
import styles from "./answer-column.module.css"

export interface ColumnActions {
  setModel: (model: string) => void
  remove: () => void
  stop: () => void
  setTurns: (turns: Turn[]) => void
  mark: (callId: string, mark: "good" | "bad") => void
  /** What of the settings cannot be sent, in a sentence; null: nothing. */
  problem: string | null
  /** Asks the model after these turns; a problem of the settings is said in the answer's place. */
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
      <AnswerFigures answer={last?.answer ?? null} isHidden={hiddenAs !== null} />
      <div
        className={styles.turns}
        tabIndex={0}
        role="group"
        aria-label={`What ${name} was told and said`}
        aria-busy={isRunning}
      >
        {turns.length === 0 && <p className={styles.none}>Its answer shows here.</p>}
        {turns.map((turn, at) => (
          <AnswerTurn
            key={at}
            turn={turn}
            color={color}
            compared={compared?.[at]?.text ?? null}
            isLast={at === turns.length - 1}
            problem={actions.problem}
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
            <AnswerMarks project={project} answer={last.answer} onMarked={actions.mark} />
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
                  params={{ ...project.params, trace: last.answer.traceId }}
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

/** An edited text has no tokens, and what is said of it must not be stored with the call, which holds the text before. */
function corrected(turn: Turn, text: string): Turn {
  if (text === turn.text) return turn
  if (turn.answer === undefined) return { ...turn, text }
  return { ...turn, text, answer: { ...turn.answer, tokens: [], isCorrected: true } }
}

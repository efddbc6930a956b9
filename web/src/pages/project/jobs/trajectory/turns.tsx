/** The turns of a trajectory as they were said; completions by their tokens, where these are known. */
import type { TrainedTrajectory, TrainedTurn } from "@heddle/server/wire/training/trained-trajectory.ts"
import { Bot, FileText } from "lucide-react"
import { chatOf, type ChatMessage } from "../../../../calls/chat-messages.ts"
import { StatusIcon } from "../../../../components/signs/status.tsx"
import { LongText } from "../../../../components/text/long-text.tsx"
import { counted } from "../../../../format/counted.ts"
import { formatChange, formatCount } from "../../../../format/numbers.ts"
import type { JsonText } from "../../../../json/json-text.ts"
import { Message } from "../../trace/chat-view.tsx"
import { SaidBy } from "../../trace/said-by.tsx"
import { TokenText } from "./token-text.tsx"
import type { TokenHeat } from "./trajectory-search.ts"
import styles from "./turns.module.css"

/** Position of the selected token. */
export interface TokenPlace {
  turn: number
  place: number
}

interface TurnsProps {
  /** `entity/project` */
  project: string
  trajectory: TrainedTrajectory
  heat: TokenHeat
  selected: TokenPlace | null
  onSelect: (place: TokenPlace) => void
}

export function Turns({ project, trajectory, heat, selected, onSelect }: TurnsProps) {
  const { turns, tools } = trajectory
  return (
    <ol className={styles.turns} aria-label="Turns">
      {turns.map((turn, index) => (
        <Turn
          key={index}
          project={project}
          turn={turn}
          tools={index === 0 ? (tools?.length ?? 0) : 0}
          isOtherHistory={turn.history > 0 && turns[index - 1]?.history !== turn.history}
          trajectory={trajectory}
          heat={heat}
          selected={selected?.turn === index ? selected.place : null}
          onSelect={(place) => onSelect({ turn: index, place })}
        />
      ))}
    </ol>
  )
}

interface TurnProps {
  project: string
  turn: TrainedTurn
  tools: number
  /** The first of an additional history. */
  isOtherHistory: boolean
  trajectory: TrainedTrajectory
  heat: TokenHeat
  selected: number | null
  onSelect: (place: number) => void
}

function Turn(props: TurnProps) {
  const { project, turn, tools, isOtherHistory } = props
  return (
    <>
      {isOtherHistory && <li className={styles.history}>additional history {turn.history}</li>}
      {turn.type === "message" ? (
        messagesOf(turn.message).map((message, index) => (
          <Message key={index} project={project} message={message} tools={tools} />
        ))
      ) : turn.type === "context" ? (
        <Context turn={turn} />
      ) : (
        <Completion {...props} turn={turn} />
      )}
    </>
  )
}

function Context({ turn: { text, tokens } }: { turn: Extract<TrainedTurn, { type: "context" }> }) {
  return (
    <SaidBy icon={FileText} name="prompt">
      <details className={styles.context}>
        <summary>{counted(tokens, "token")} of context, not trained</summary>
        <LongText text={text} />
      </details>
    </SaidBy>
  )
}

function Completion({
  turn,
  trajectory: { sequences },
  heat,
  selected,
  onSelect,
}: TurnProps & { turn: Extract<TrainedTurn, { type: "completion" }> }) {
  const { tokens, message, drop, place } = turn
  const sequence = turn.sequence === null ? undefined : sequences[turn.sequence]
  const count = tokens?.token_ids.length ?? 0
  const trained = tokens?.trained.filter(Boolean).length ?? 0
  return (
    <SaidBy icon={Bot} name="assistant">
      <div className={styles.said}>
        {tokens === null ? (
          message !== null &&
          messagesOf(message).map(({ text }, index) => (
            <div key={index} className={styles.plain}>
              <LongText text={text} />
            </div>
          ))
        ) : (
          <TokenText
            label={`Tokens of ${place}`}
            tokens={tokens}
            sequence={sequence}
            heat={heat}
            selected={selected}
            onSelect={onSelect}
          />
        )}
        <p className={styles.note}>
          {place} ·{" "}
          {tokens === null
            ? "its tokens are not known"
            : `${formatCount(trained)} of ${counted(count, "token")} trained`}
          {sequence?.gradient_step != null && ` at gradient step ${sequence.gradient_step}`}
          {sequence !== undefined && trained > 0 && `, advantage ${formatChange(sequence.advantage)}`}
        </p>
        {drop !== null && (
          <p className={styles.drop}>
            <StatusIcon of="warning" name="Left out" /> {drop.reason}
          </p>
        )}
      </div>
    </SaidBy>
  )
}

function messagesOf(message: object): ChatMessage[] {
  const chat = chatOf(JSON.stringify({ messages: [message] }) as JsonText, "null" as JsonText)
  return chat?.messages ?? []
}

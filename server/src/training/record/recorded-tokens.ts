/** One trajectory of a record, its turns joined with what the gradient steps found of their tokens. */
import path from "node:path"
import type { RecordedStep, RecordedTurn, RecordedTurns } from "../../wire/engine/training-record.ts"
import type { TrainedTokens, TrainedTrajectory, TrainedTurn } from "../../wire/training/trained-trajectory.ts"
import { exactLineAt, floatsOf, integersOf, marksOf, wholeLines } from "./record-lines.ts"
import { type PlacedTrajectory, toDrop } from "./recorded-groups.ts"

/** Trained tokens of a sequence, dealt out to its turns in order. */
interface Found {
  logprobs: (number | null)[]
  ratios: (number | null)[]
  clipped: boolean[]
}

type Completion = Extract<RecordedTurn, { place: string }>
type Tokens = NonNullable<Completion["tokens"]>

/** null: its turns are not there, or not whole. */
export async function trainedTrajectory(
  folder: string,
  jobId: string,
  recorded: PlacedTrajectory,
): Promise<TrainedTrajectory | null> {
  const line = await exactLineAt(path.join(folder, "turns.jsonl"), recorded.turns_at, recorded.turns_length)
  if (line === null) return null
  const { tools, turns } = line as RecordedTurns
  const found = await stepsOf(folder, recorded)
  const { group, index, question, question_digest, reward, advantage } = recorded
  return {
    object: "trajectory",
    training_job_id: jobId,
    group,
    index,
    question,
    question_digest,
    reward,
    advantage,
    drops: recorded.drops.map(toDrop),
    sequences: recorded.sequences.map(({ step, ...sequence }) => ({
      gradient_step: step,
      ...sequence,
    })),
    tools,
    turns: turns.map((turn) => toTurn(turn, recorded, found)),
  }
}

/** By sequence; a step that is not done yet has none. */
async function stepsOf(folder: string, recorded: PlacedTrajectory): Promise<Map<number, Found>> {
  const wanted = new Set(recorded.sequences.map(({ step }) => step))
  const isWanted = (beginning: string) => wanted.has(Number(/^\{"number":(\d+),/.exec(beginning)?.[1]))
  const found = new Map<number, Found>()
  if (wanted.size === 0) return found
  for await (const line of wholeLines(path.join(folder, "steps.jsonl"), isWanted)) {
    const { sequences } = JSON.parse(line) as RecordedStep
    for (const { trajectory, sequence, logprobs, ratios, clipped } of sequences) {
      if (trajectory !== recorded.place) continue
      found.set(sequence, { logprobs: floatsOf(logprobs), ratios: floatsOf(ratios), clipped: marksOf(clipped) })
    }
  }
  return found
}

function toTurn(turn: RecordedTurn, recorded: PlacedTrajectory, found: Map<number, Found>): TrainedTurn {
  const { history } = turn
  if ("context" in turn) return { type: "context", history, text: turn.context, tokens: turn.tokens_of_context }
  if (!("place" in turn)) return { type: "message", history, message: turn.message }
  const { place, message, cause, tokens } = turn
  const sequence = tokens?.sequence ?? null
  const isPacked = sequence !== null && recorded.sequences[sequence]?.step !== null
  return {
    type: "completion",
    history,
    place,
    message,
    sequence,
    drop:
      cause === null
        ? null
        : toDrop({
            cause,
            place,
          }),
    tokens: tokens === null ? null : toTokens(tokens, isPacked, sequence === null ? undefined : found.get(sequence)),
  }
}

function toTokens(tokens: Tokens, isPacked: boolean, found: Found | undefined): TrainedTokens {
  const { text, count } = tokens
  const trained = isPacked && tokens.trained !== undefined ? marksOf(tokens.trained) : Array<boolean>(count).fill(false)
  const next = <T>(values: T[] | undefined, missing: T): T[] =>
    trained.map((isTrained) => (isTrained ? (values?.shift() ?? missing) : missing))
  return {
    token_ids: integersOf(tokens.ids),
    texts: text,
    sampled_logprobs: floatsOf(tokens.sampled),
    trained,
    logprobs: next(found?.logprobs, null),
    ratios: next(found?.ratios, null),
    clipped: next(found?.clipped, false),
  }
}

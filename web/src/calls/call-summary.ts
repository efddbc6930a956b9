/** Figures in a call's summary: tokens and their cost, and the feedback of people and scorers. */
import type { AggregatedUsage } from "@heddle/server/wire/calls/usage.ts"
import type { JsonText } from "../json/json-text.ts"

export interface TokenCount {
  input: number
  cached: number
  output: number
  /** In dollars; null: none of the models has a price. */
  cost: number | null
  models: string[]
}

export interface FeedbackMark {
  id: string
  kind: "reaction" | "note" | "score"
  /** Name of the scorer or question; a reaction has none. */
  name: string
  /** The reaction, the note's text or the value, as it is shown. */
  text: string
  /** A value that is a number. */
  value: number | null
  creator: string | null
  at: string
}

type Loose = Record<string, unknown>

export interface Feedback {
  id: string
  feedback_type: string
  payload: Loose
  creator: string | null
  wb_user_id?: string | null
  runnable_ref: string | null
  created_at: string
}

interface Summary {
  usage?: Record<string, Loose> | null
  weave?: { costs?: Record<string, Loose>; feedback?: Feedback[] }
}

export interface CallFacts {
  tokens: TokenCount | null
  feedback: FeedbackMark[]
}

/** What was said of a call, as it was sent. */
export function feedbackOf(summary: JsonText): Feedback[] {
  return (JSON.parse(summary) as Summary | null)?.weave?.feedback ?? []
}

export function callFacts(summary: JsonText): CallFacts {
  const { usage, weave } = (JSON.parse(summary) as Summary | null) ?? {}
  const models = Object.entries(usage ?? {})
  return {
    tokens: models.length === 0 ? null : tokensOf(models, weave?.costs ?? {}),
    feedback: (weave?.feedback ?? []).flatMap(marksOf),
  }
}

function tokensOf(models: [string, Loose][], costs: Record<string, Loose>): TokenCount | null {
  const sum = (names: readonly string[]) =>
    models.reduce((all, [, usage]) => all + names.reduce((own, name) => own + numberOf(usage[name]), 0), 0)
  const input = sum(["prompt_tokens", "input_tokens"])
  const output = sum(["completion_tokens", "output_tokens"])
  if (input + output === 0) return null
  const priced = models.flatMap(([model]): Loose[] => (costs[model] === undefined ? [] : [costs[model]]))
  const cost = priced.reduce(
    (all, one) => all + numberOf(one["prompt_tokens_total_cost"]) + numberOf(one["completion_tokens_total_cost"]),
    0,
  )
  return {
    input,
    output,
    cached: sum(["cache_read_input_tokens"]),
    cost: priced.length === 0 ? null : cost,
    models: models.map(([model]) => model),
  }
}

/** Tokens of a call with all calls inside it, as `/calls/usage` reports them, or null without tokens. */
export function tokensOfUsage(usage: Record<string, AggregatedUsage> | undefined): TokenCount | null {
  const models = Object.entries(usage ?? {})
  const sum = (value: (one: AggregatedUsage) => number) => models.reduce((all, [, one]) => all + value(one), 0)
  const [input, output] = [sum((one) => one.prompt_tokens), sum((one) => one.completion_tokens)]
  if (input + output === 0) return null
  const cost = sum((one) => (one.prompt_tokens_total_cost ?? 0) + (one.completion_tokens_total_cost ?? 0))
  return {
    input,
    output,
    cached: sum((one) => one.cache_read_input_tokens),
    // A model without a price costs 0 there.
    cost: cost === 0 ? null : cost,
    models: models.map(([model]) => model),
  }
}

/** What a piece of feedback says: a scorer may give several values. */
export function marksOf({ id, feedback_type, payload, creator, runnable_ref, created_at }: Feedback): FeedbackMark[] {
  const mark = (kind: FeedbackMark["kind"], name: string, value: unknown) => ({
    id: `${id}:${name}`,
    kind,
    name,
    text: textOf(value),
    value: typeof value === "number" ? value : null,
    creator,
    at: created_at,
  })
  if (feedback_type.startsWith("wandb.reaction.")) return [mark("reaction", "", payload["emoji"])]
  if (feedback_type.startsWith("wandb.note.")) return [mark("note", "note", payload["note"])]
  const name = giverName(feedback_type)
  const value = runnable_ref === null ? (payload["value"] ?? payload) : payload["output"]
  if (typeof value !== "object" || value === null) return [mark("score", name, value)]
  const members = Object.entries(value)
  // A scorer names its one result after itself as a rule.
  return members.map(([key, one]) => mark("score", members.length === 1 && key === name ? name : `${name}.${key}`, one))
}

/** The name of the scorer or question in the type of what it gave. */
export function giverName(feedbackType: string): string {
  return feedbackType.replace(/^wandb\.(?:runnable|annotation)\./, "")
}

function textOf(value: unknown): string {
  if (value === true) return "yes"
  if (value === false) return "no"
  return typeof value === "string" ? value : JSON.stringify(value ?? null)
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0
}

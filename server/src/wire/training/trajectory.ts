/**
 * Trajectories as clients send them: training-api 2.1, art-0.5.23 2. Unknown keys are accepted everywhere:
 * clients add their own, and those of a Choice must survive the round trip.
 */
import { z } from "zod"
import { exchanges } from "./exchange.ts"
import { storable } from "../well-formed.ts"
import { rewardValue } from "./reward-value.ts"
import { tokenIds, tokenLogprobs } from "./token-arrays.ts"

export const tool = z.looseObject({})

/** A prompt message. `tool` messages often carry `name`, assistant messages `reasoning`. */
export const message = z.looseObject({
  role: z.enum(["developer", "system", "user", "assistant", "tool", "function"]),
  content: z.union([z.string(), z.array(z.looseObject({}))]).nullish(),
  tool_calls: z.array(z.looseObject({})).nullish(),
})

/** A completion as chat returned it; the only thing that is trained. */
export const choice = z
  .looseObject({
    finish_reason: z.enum(["stop", "length", "tool_calls", "content_filter", "function_call"]),
    index: z.int(),
    message: z.looseObject({
      role: z.literal("assistant"),
      content: z.string().nullish(),
      refusal: z.string().nullish(),
      tool_calls: z.array(z.looseObject({})).nullish(),
    }),
    logprobs: z.looseObject({ content: tokenLogprobs }).nullish(),
    /** Exact ids (training-api 4.5). */
    token_ids: tokenIds,
    prompt_token_ids: tokenIds,
    heddle_ledger_key: z.string().nullish(),
  })
  .refine((value) => idsMatchLogprobs(value.token_ids, value.logprobs?.content), {
    path: ["token_ids"],
    message: "token_ids and logprobs.content must have one entry per generated token each",
  })

function idsMatchLogprobs(ids: unknown[] | null | undefined, logprobs: unknown[] | null | undefined): boolean {
  return (
    ids === null || ids === undefined || logprobs === null || logprobs === undefined || ids.length === logprobs.length
  )
}

/** True for a choice, which has `message` and `finish_reason`; anything else is a message. */
export function isChoice(item: unknown): boolean {
  return typeof item === "object" && item !== null && "message" in item && "finish_reason" in item
}

type Item = { choice: z.output<typeof choice> } | { message: z.output<typeof message> }

/** The rule above decides which schema applies, so that errors speak of one shape and not of both. */
const item = z
  .unknown()
  .transform((value, context): Item => {
    const asChoice = isChoice(value)
    const result = (asChoice ? choice : message).safeParse(value, { reportInput: true })
    if (!result.success) {
      for (const issue of result.error.issues) context.issues.push(issue as z.core.$ZodRawIssue)
      return z.NEVER
    }
    return (asChoice ? { choice: result.data } : { message: result.data }) as Item
  })
  .meta({ title: "Message or choice", description: "A chat message, or a choice as /v1/chat/completions returned it." })

export const history = z.looseObject({
  messages_and_choices: z.array(item),
  tools: z.array(tool).nullish(),
})

/** Sums of larger ones, of which means are made, are infinite. */
const mostMetric = 1e300

/** Names are taken out of the documents that have them in the catalog, which knows no other texts. */
export const metricMap = z.record(storable, z.union([z.number().min(-mostMetric).max(mostMetric), z.boolean()]))

const anyJson = z.record(z.string(), z.unknown())

export const trajectory = z
  .looseObject({
    /** Never beside messages and choices. */
    exchanges: exchanges.nullish(),
    messages_and_choices: z.array(item).default([]),
    tools: z.array(tool).nullish(),
    additional_histories: z.array(history).default([]),
    reward: rewardValue.default(0),
    initial_policy_version: z.int().nullish(),
    final_policy_version: z.int().nullish(),
    metrics: metricMap.default({}),
    metadata: anyJson.optional(),
    logs: z.array(z.string()).optional(),
  })
  .refine(
    (value) => !hasExchanges(value) || value.messages_and_choices.length + value.additional_histories.length === 0,
    {
      path: ["exchanges"],
      message:
        "a trajectory holds exchanges or messages_and_choices, not both: which of them to train would be a guess",
    },
  )

export function hasExchanges({
  exchanges: kinds,
}: {
  exchanges?: z.output<typeof exchanges> | null | undefined
}): boolean {
  return Object.values(kinds ?? {}).some((list) => Array.isArray(list) && list.length > 0)
}

export const rolloutException = z.looseObject({ type: z.string(), message: z.string(), traceback: z.string() })

/** A group but for its trajectories, which are read one by one. */
export const groupFields = z.looseObject({
  exceptions: z.array(rolloutException).default([]),
  metrics: metricMap.default({}),
  metadata: anyJson.optional(),
})

/** Without trajectories every rollout failed, or none were asked for. */
export const trajectoryGroup = groupFields.extend({ trajectories: z.array(trajectory).default([]) })

export type Choice = z.output<typeof choice>
export type Trajectory = z.output<typeof trajectory>
export type History = z.output<typeof history>

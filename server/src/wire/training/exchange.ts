/**
 * HTTP calls of a rollout as openpipe-art 0.5.23 captures them: art-0.5.23 2 and 3. Of another model's call nothing is read, so
 * what a call must hold to be trained is checked where it is known to be the policy's (`training/trajectories/captured`).
 */
import { z } from "zod"

export const exchangeKinds = ["chat_completions", "completions", "responses", "messages"] as const

const captured = z.looseObject({})

export const exchange = z.looseObject({
  start_time: z.iso.datetime({ offset: true }),
  end_time: z.iso.datetime({ offset: true }),
  /** The JSON body as it was sent. */
  request: captured,
  /** The whole answer; that of a stream is put together. */
  response: captured,
  model: z.string().nullish(),
})

const exchangeList = z.array(exchange).nullish()

/** Lists in the order of capture. */
export const exchanges = z
  .looseObject({
    chat_completions: exchangeList,
    completions: exchangeList,
    responses: exchangeList,
    messages: exchangeList,
  })
  .superRefine((value, context) => {
    for (const [kind, list] of Object.entries(value)) {
      const isEmpty = list === null || (Array.isArray(list) && list.length === 0)
      if (isEmpty || (exchangeKinds as readonly string[]).includes(kind)) continue
      const message = `calls of this kind cannot be trained; those of ${exchangeKinds.join(", ")} can`
      context.addIssue({ code: "custom", path: [kind], message })
    }
  })

export type ExchangeKind = (typeof exchangeKinds)[number]
export type Exchange = z.output<typeof exchange>
export type Exchanges = z.output<typeof exchanges>

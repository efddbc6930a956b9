/** Every engine method with the schemas of its parameters, events and result. */
import { z } from "zod"
import { baseDescription, baseLoadParams, baseResolveParams, helloParams, helloResult, shutdownParams } from "./base.ts"
import {
  cancelParams,
  chatDelta,
  chatParams,
  chatResult,
  chatStart,
  detokenizeParams,
  detokenizeResult,
  scoreParams,
  scoreResult,
  tokenizeParams,
  tokenizeResult,
} from "./chat.ts"
import { heartbeat } from "./frames.ts"
import {
  adapterInitParams,
  adapterInitResult,
  gradientStep,
  trainCancelParams,
  trainParams,
  trainResult,
  trainWarning,
  trainingStarted,
} from "./train.ts"

const nothing = z.object({})

export const engineMethods = {
  hello: { params: helloParams, events: {}, result: helloResult },
  status: { params: nothing, events: {}, result: heartbeat },
  "base.resolve": { params: baseResolveParams, events: {}, result: baseDescription },
  "base.load": { params: baseLoadParams, events: {}, result: baseDescription },
  chat: { params: chatParams, events: { start: chatStart, delta: chatDelta }, result: chatResult },
  "chat.cancel": { params: cancelParams, events: {}, result: nothing },
  score: { params: scoreParams, events: {}, result: scoreResult },
  tokenize: { params: tokenizeParams, events: {}, result: tokenizeResult },
  detokenize: { params: detokenizeParams, events: {}, result: detokenizeResult },
  train: {
    params: trainParams,
    events: { training_started: trainingStarted, gradient_step: gradientStep, warning: trainWarning },
    result: trainResult,
  },
  "train.cancel": { params: trainCancelParams, events: {}, result: nothing },
  "adapter.init": { params: adapterInitParams, events: {}, result: adapterInitResult },
  shutdown: { params: shutdownParams, events: {}, result: nothing },
} as const

export type EngineMethod = keyof typeof engineMethods

/** Every engine method with the schemas of its parameters, events and result. */
import { z } from "zod"
import { baseDescription, baseResolveParams, helloParams, helloResult, shutdownParams } from "./base.ts"
import {
  cancelParams,
  chatDelta,
  chatParams,
  chatResult,
  chatStart,
  detokenizeParams,
  detokenizeResult,
  embedParams,
  embedResult,
  tokenizeParams,
  tokenizeResult,
} from "./chat.ts"
import { exportParams, exportPlanned, exportResult } from "./export.ts"
import {
  fileGetParams,
  fileGetResult,
  filePutParams,
  filePutResult,
  filesLackingParams,
  filesLackingResult,
  trainForgetParams,
} from "./files.ts"
import { importParams, importResult } from "./import.ts"
import { heartbeat } from "./frames.ts"
import { gradientStep, trainCancelParams, trainParams, trainResult, trainWarning, trainingStarted } from "./train.ts"

const nothing = z.object({})

export const engineMethods = {
  hello: { params: helloParams, events: {}, result: helloResult },
  status: { params: nothing, events: {}, result: heartbeat },
  "base.resolve": { params: baseResolveParams, events: {}, result: baseDescription },
  chat: { params: chatParams, events: { start: chatStart, delta: chatDelta }, result: chatResult },
  embed: { params: embedParams, events: {}, result: embedResult },
  "chat.cancel": { params: cancelParams, events: {}, result: nothing },
  tokenize: { params: tokenizeParams, events: {}, result: tokenizeResult },
  detokenize: { params: detokenizeParams, events: {}, result: detokenizeResult },
  train: {
    params: trainParams,
    events: { training_started: trainingStarted, gradient_step: gradientStep, warning: trainWarning },
    result: trainResult,
  },
  "train.cancel": { params: trainCancelParams, events: {}, result: nothing },
  "train.forget": { params: trainForgetParams, events: {}, result: nothing },
  "files.lacking": { params: filesLackingParams, events: {}, result: filesLackingResult },
  "file.put": { params: filePutParams, events: {}, result: filePutResult },
  "file.get": { params: fileGetParams, events: {}, result: fileGetResult },
  "checkpoint.export": { params: exportParams, events: { planned: exportPlanned }, result: exportResult },
  "adapter.import": { params: importParams, events: {}, result: importResult },
  shutdown: { params: shutdownParams, events: {}, result: nothing },
} as const

export type EngineMethod = keyof typeof engineMethods

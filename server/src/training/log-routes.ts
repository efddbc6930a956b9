/** Row 7 of training-api 1.1: trajectories of an old client (openpipe-art 0.5.7), and their metrics at the newest step. */
import { HeddleError } from "../errors.ts"
import type { HeldBody } from "../http/bodies/body-budget.ts"
import { bodyStream } from "../http/bodies/body-stream.ts"
import type { Principal } from "../http/principal.ts"
import { type Route, route } from "../http/route.ts"
import { createTrajectoryLog } from "../storage/catalog/training/trajectory-logs.ts"
import { type LogAnswer, logAnswer, logBody, logFields } from "../wire/training/log.ts"
import { modelParams } from "../wire/training/model.ts"
import type { TrainingDependencies } from "./dependencies.ts"
import { referToBlob, withTemporaryFile } from "./job-data.ts"
import { modelOf, requireRoomFor } from "./model-access.ts"
import { checkedFields } from "./trajectories/trajectory-fields.ts"
import { prefixed } from "./trajectories/trajectory-metrics.ts"

export function logRoutes(dependencies: TrainingDependencies): Route[] {
  return [
    route({
      method: "POST",
      path: "/v1/preview/models/:model_id/log",
      access: { right: "write", of: "model path.model_id", ingest: true, train: true },
      dialect: "detail",
      summary: "Store trajectories of a split and their metrics at the newest step",
      tag: "Checkpoints",
      schemas: { params: modelParams },
      streamsBody: true,
      bodyDocument: logBody,
      response: logAnswer,
      handle: ({ params, principal, request, held }) => {
        const body = bodyStream(request.raw, dependencies.limits.maximumBodyBytes)
        return logTrajectories(dependencies, principal, params.model_id, body, held)
      },
    }),
  ]
}

async function logTrajectories(
  { database, blobs, trajectories }: TrainingDependencies,
  principal: Principal,
  modelId: string,
  body: AsyncIterable<Uint8Array>,
  held: HeldBody,
): Promise<LogAnswer> {
  const model = await modelOf(database, principal, modelId)
  return withTemporaryFile(blobs, async (file) => {
    const data = await trajectories.read(body, file, "log", held)
    const { split } = checkedFields(logFields, data)
    const metrics = prefixed(split, data.metrics)
    await requireRoomFor(database, principal, model, data.sizeBytes)
    await blobs.adopt(file, data.sha256)
    const log = {
      modelId: model.id,
      projectId: model.projectId,
      split,
      dataSha256: data.sha256,
      sizeBytes: data.sizeBytes,
      metrics,
    }
    const step = await referToBlob(database, blobs, data.sha256, () => createTrajectoryLog(database, log))
    if (step === null) throw new HeddleError("not_found", `the model "${model.name}" has no checkpoint to log for`)
    return { step, metrics }
  })
}

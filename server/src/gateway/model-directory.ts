/** Resolves model names to weights, once per request, at its admission (inference-api 2). */
import { adapterRef } from "../engines/adapter-ref.ts"
import { HeddleError } from "../errors.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import {
  basesInUse,
  type CheckpointName,
  findCheckpoints,
  listServedModels,
  type ListedModel,
  type NamedCheckpoint,
  type UsedBase,
} from "../storage/catalog/inference/served-models.ts"
import type { BaseRef } from "../wire/engine/base.ts"
import type { AdapterRef } from "../wire/engine/chat.ts"
import { BatchedLookup } from "../work/batched-lookup.ts"
import { artifactName, type ModelName, parseModelName } from "./model-name.ts"

/** The model that answers a request, fixed for the request's whole life. */
export interface ServedModel {
  base: BaseRef
  /** null: the base model's own function, which step 0 is too. */
  adapter: AdapterRef | null
  /** null: a base model was named. */
  trained: {
    modelId: string
    projectId: string
    entity: string
    step: number
    createdAt: Date
  } | null
}

export interface NamedProject {
  entity: string
  project: string
}

type CheckpointModel = Extract<ModelName, { kind: "checkpoint" }>

/** How many models an error names; the list has them all. */
const mostNames = 8

export class ModelDirectory {
  readonly #database: CatalogDatabase
  readonly #dataDir: string
  readonly #shipped: ReadonlyMap<string, string>
  readonly #checkpoints: BatchedLookup<CheckpointName, NamedCheckpoint | null>

  /** `shipped`: name → folder of the base models that need nothing from outside. */
  constructor(database: CatalogDatabase, dataDir: string, shipped: ReadonlyMap<string, string>) {
    this.#database = database
    this.#dataDir = dataDir
    this.#shipped = shipped
    this.#checkpoints = new BatchedLookup((names) => findCheckpoints(database, names))
  }

  /** @throws {HeddleError} `model_not_found`, the same for what is unknown and what these entities may not see. */
  async resolve(text: string, entityIds: readonly string[], project: NamedProject | null): Promise<ServedModel> {
    const name = parseModelName(text, project)
    if (name.kind === "malformed") throw malformed(text)
    return name.kind === "base"
      ? this.#resolveBase(name.name, entityIds)
      : this.#resolveCheckpoint(text, name, entityIds)
  }

  /** Base models these entities may chat with, shipped ones first. */
  async bases(entityIds: readonly string[]): Promise<UsedBase[]> {
    const shipped = [...this.#shipped].map(([name, folder]) => ({ name, path: folder }))
    const used = await basesInUse(this.#database, entityIds)
    return [...shipped, ...used.filter((base) => !this.#shipped.has(base.name))]
  }

  trainedModels(entityIds: readonly string[]): Promise<ListedModel[]> {
    return listServedModels(this.#database, entityIds)
  }

  async #resolveBase(name: string, entityIds: readonly string[]): Promise<ServedModel> {
    const shipped = this.#shipped.get(name)
    if (shipped !== undefined) return { base: { name, path: shipped }, adapter: null, trained: null }
    const base = (await basesInUse(this.#database, entityIds)).find((used) => used.name === name)
    if (base === undefined) throw await this.#notFound(name, entityIds)
    return { base, adapter: null, trained: null }
  }

  async #resolveCheckpoint(text: string, name: CheckpointModel, entityIds: readonly string[]): Promise<ServedModel> {
    const found = await this.#checkpoints.get(JSON.stringify([name, entityIds]), {
      ...name,
      entityIds,
    })
    if (found === null) throw await this.#notFound(text, entityIds)
    if (found.checkpoint === null) throw await this.#checkpointGone(text, name, entityIds)
    const { modelId, projectId, createdAt, checkpoint } = found
    return {
      base: { name: found.baseModel, path: found.basePath },
      adapter: adapterRef(this.#dataDir, modelId, checkpoint),
      trained: { modelId, projectId, entity: name.entity, step: checkpoint.step, createdAt },
    }
  }

  async #notFound(name: string, entityIds: readonly string[]): Promise<HeddleError> {
    const [bases, trained] = await Promise.all([this.bases(entityIds), this.trainedModels(entityIds)])
    const newest = trained.toReversed().map((model) => artifactName(model.entity, model.project, model.name))
    const names = [...bases.map((base) => base.name), ...newest].slice(0, mostNames)
    const message =
      `the model "${name}" does not exist here or your key may not read it. GET /v1/models lists what it may use, ` +
      `such as ${names.join(", ")}; a trained model is named wandb-artifact:///<entity>/<project>/<name>[:step<N>]`
    return new HeddleError("model_not_found", message, { param: "model" })
  }

  /** Never another step in its place: the client trains on what it believes it sampled (inference-api 2 rule 5). */
  async #checkpointGone(text: string, name: CheckpointModel, entityIds: readonly string[]): Promise<HeddleError> {
    const newest = { ...name, entityIds, step: null, version: null }
    const step = (await findCheckpoints(this.#database, [newest]))[0]?.checkpoint?.step
    const left = step === undefined ? "the model has none left" : `the newest is :step${step}`
    const message = `"${text}" has no such checkpoint: it was deleted or not made yet; ${left}`
    return new HeddleError("model_not_found", message, { param: "model" })
  }
}

function malformed(name: string): HeddleError {
  const message = `"${name}" is not a model name; write wandb-artifact:///<entity>/<project>/<name>, then nothing, :step<N>, :latest or :v<N>`
  return new HeddleError("model_not_found", message, { param: "model" })
}

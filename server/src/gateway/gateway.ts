/**
 * The way of every completion: resolve the name, admit, sample on the engine (once more when it
 * dies before the first byte), record. The inference area turns requests into parameters and
 * results into answers.
 */
import type { ErrorLog } from "../log.ts"
import {
  type Engine,
  type EngineCall,
  type EngineEvent,
  EngineFailure,
  isEngineAway,
  type EngineParams,
  type EngineResult,
} from "../engines/engine.ts"
import { ownTeam, requireRight, teamIds } from "../access/can.ts"
import { isPassing, isStoreUnavailable } from "../errors.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import type { UsageRow } from "../storage/catalog/inference/completion-usage.ts"
import type { BaseRef } from "../wire/engine/base.ts"
import { Admission, type AdmissionLimits, type RequestSize } from "./admission.ts"
import { AdapterLeases } from "./adapter-leases.ts"
import { Attribution, type Caller, type HeaderProject } from "./attribution.ts"
import { CacheSalts } from "./cache-salt.ts"
import { type CompletionRecord, toLedgerRows } from "./completion-record.ts"
import { toClientError } from "./engine-errors.ts"
import { ModelDirectory, type ServedModel } from "./model-directory.ts"
import { OpenRequests } from "./open-requests.ts"
import type { RolloutMark } from "./rollout-mark.ts"
import { type OpenTurn, type RolloutLimits, RolloutTurns } from "./rollout-turns.ts"
import { RequestUsage, type UsageOwner } from "./request-usage.ts"
import type { TokenLedger } from "./token-ledger.ts"
import { UsageJournal } from "./usage-journal.ts"
import { UsageWriter } from "./usage-writer.ts"

export interface GatewayOptions {
  database: CatalogDatabase
  engine: Engine
  dataDir: string
  /** Name → folder of the base models that need nothing from outside. */
  shippedBases: ReadonlyMap<string, string>
  /** {@link loadServerSecret}. */
  secret: Buffer
  ledger: TokenLedger
  log: ErrorLog
  /** Of {@link recoverUsage}. */
  usageLeft?: readonly UsageRow[]
  limits: AdmissionLimits & RolloutLimits
  /** How long a request waits for an engine that is starting. */
  engineWaitMs?: number
}

export type ChatEvent = EngineEvent<"chat">

/** Engine parameters that the caller decides; the gateway adds the rest. */
export type SamplingCall = Omit<EngineParams<"chat">, "base" | "adapter" | "cache_salt" | "tenant">

export type EmbedCall = Pick<EngineParams<"embed">, "prompt" | "prompt_token_ids">

export interface CompletionRequest {
  requestId: string
  caller: Caller
  /** As the client wrote it. */
  model: string
  /** Header `OpenAI-Project`. */
  project: string | undefined
  clientSalt: string
  size: RequestSize
  rollout: RolloutMark | null
}

export interface AdmittedRequest {
  request: CompletionRequest
  served: ServedModel
  /** Whom it is counted for. */
  projectId: string
  /** Of the project. */
  team: { id: string; name: string }
  cacheSalt: string
  usage: RequestUsage
  /** The open turn of the request's rollout, or null if it belongs to none. */
  turn: OpenTurn | null
  /**
   * Must be called when the request is over, however it ends; its places are free at once. Resolves
   * when what was sampled for it is in the usage ledger. Repeatable.
   */
  release: () => Promise<void>
}

/** A request that goes on longer than this after the engine has closed does not keep the server from stopping. */
const settleMs = 5_000

export class Gateway {
  readonly directory: ModelDirectory
  readonly adapters: AdapterLeases
  readonly #engine: Engine
  readonly #salts: CacheSalts
  readonly #engineWaitMs: number
  readonly #admission: Admission
  readonly #attribution: Attribution
  readonly #usage: UsageWriter
  readonly #ledger: TokenLedger
  readonly #log: ErrorLog
  readonly #open = new OpenRequests()
  readonly #inProgress = new Set<RequestUsage>()
  readonly #journal: UsageJournal
  readonly #rollouts: RolloutTurns
  readonly #fingerprints = new Map<string, string>()

  constructor(options: GatewayOptions) {
    const { database, dataDir, shippedBases } = options
    this.directory = new ModelDirectory(database, dataDir, shippedBases)
    this.adapters = new AdapterLeases((error) =>
      options.log.error({ err: error }, "the files of a deleted checkpoint stay until the next start"),
    )
    this.#engine = options.engine
    this.#ledger = options.ledger
    this.#log = options.log
    this.#salts = new CacheSalts(options.secret)
    this.#engineWaitMs = options.engineWaitMs ?? 30_000
    this.#admission = new Admission(options.limits)
    this.#attribution = new Attribution(database)
    this.#usage = new UsageWriter(database, options.log, options.usageLeft)
    this.#rollouts = new RolloutTurns(database, options.limits)
    this.#journal = new UsageJournal(dataDir, () => this.#unstoredUsage(), options.log)
  }

  /** Work in progress. */
  get inProgress(): ReturnType<Admission["snapshot"]> {
    return this.#admission.snapshot()
  }

  /**
   * What would answer a request that names `model`. `project`: header `OpenAI-Project`, which gives short names their place.
   * @throws {HeddleError} 401, 403, 404.
   */
  async resolve(caller: Caller, model: string, project: string | undefined): Promise<ServedModel> {
    const header = await this.#attribution.headerProject(project, caller)
    return this.directory.resolve(model, teamIds(caller), header)
  }

  /** @throws {HeddleError} 401, 403, 404, 429, 503. */
  async admit(request: CompletionRequest): Promise<AdmittedRequest> {
    const { caller } = request
    const header = await this.#attribution.headerProject(request.project, caller)
    const served = await this.directory.resolve(request.model, teamIds(caller), header)
    const { trained } = served
    // Before anything is waited for: of a checkpoint that is deleted from now on, the files stay.
    const give = trained === null ? () => undefined : this.adapters.take(trained.modelId, trained.step)
    try {
      return await this.#admitted(request, served, header, give)
    } catch (error) {
      give()
      throw error
    }
  }

  async #admitted(
    request: CompletionRequest,
    served: ServedModel,
    header: HeaderProject | null,
    give: () => void,
  ): Promise<AdmittedRequest> {
    const { caller } = request
    if (header === null && served.trained !== null) requireCharged(caller, served.trained)
    const projectId =
      header?.projectId ?? served.trained?.projectId ?? (await this.#attribution.defaultProjectId(caller))
    const team = ownTeam(caller, header?.entity ?? served.trained?.entity ?? "") ?? caller.defaultEntity
    const turn = await this.#beginTurn(request, served, team, projectId)
    const leave = this.#admission.enter({ userId: caller.userId, teamId: team.id, projectId }, request.size)
    const cacheSalt = this.#salts.salt(projectId, weightsKey(served), request.clientSalt)
    const usage = new RequestUsage(usageOwner(request, served, projectId), (row) => this.#usage.add(row))
    this.#inProgress.add(usage)
    const release = this.#open.begin(async () => {
      leave()
      give()
      await this.#settle(usage, request)
      this.#inProgress.delete(usage)
    })
    return { request, served, projectId, team, cacheSalt, usage, turn, release }
  }

  /** Resolves when every admitted request is over and in the ledger. Call it once the engine has closed. */
  async settled(): Promise<void> {
    await this.#open.ended(settleMs)
    await this.#usage.close()
    await this.#journal.close()
  }

  #unstoredUsage(): UsageRow[] {
    const open = Array.from(this.#inProgress, ({ row }) => row).filter((row) => row !== null)
    return [...this.#usage.waiting, ...open]
  }

  /** Logs a failure instead of throwing it: nobody waits for an answer any more. */
  async #settle(usage: RequestUsage, { requestId }: CompletionRequest): Promise<void> {
    try {
      await usage.store()
    } catch (error) {
      // The writer keeps the row until the catalog takes it.
      if (isPassing(error)) return
      const object = { err: error, request_id: requestId, row: usage.row }
      this.#log.error(object, "the tokens of a request could not be stored in the usage ledger")
    }
  }

  /** @throws {HeddleError} */
  complete(admitted: AdmittedRequest, call: SamplingCall, signal: AbortSignal): Promise<EngineResult<"chat">> {
    return this.#compute("chat", admitted, chatParams(admitted, call), signal)
  }

  /** The vector of a prompt. @throws {HeddleError} */
  embed(admitted: AdmittedRequest, prompt: EmbedCall, signal: AbortSignal): Promise<EngineResult<"embed">> {
    return this.#compute("embed", admitted, { ...prompt, ...whatServes(admitted) }, signal)
  }

  async #compute<M extends "chat" | "embed">(
    method: M,
    admitted: AdmittedRequest,
    params: EngineParams<M>,
    signal: AbortSignal,
  ): Promise<EngineResult<M>> {
    const compute = () => this.#engine.call(method, params, signal).result
    const used = admitted.usage.newCall()
    try {
      await this.#ready(signal)
      const result = await compute().catch(async (error: unknown) => {
        if (!isEngineAway(error)) throw error
        // It is asked again, once (inference-api 11.4 rule 4).
        await this.#ready(signal)
        return compute()
      })
      used.end(result)
      return result
    } catch (error) {
      used.fail(error)
      throw clientError(error)
    }
  }

  /**
   * Yields batches of events, returns the result. Ends by throwing a {@link HeddleError}, also
   * between batches when the engine dies; before the first batch it tries once more. A reader that stops
   * before the end must call `return`: it cancels the call and counts what came until the engine heard.
   */
  async *stream(
    admitted: AdmittedRequest,
    call: SamplingCall,
    signal: AbortSignal,
  ): AsyncGenerator<ChatEvent[], EngineResult<"chat">> {
    const params = chatParams(admitted, { ...call, stream: true })
    const left = new AbortController()
    const either = AbortSignal.any([signal, left.signal])
    const used = admitted.usage.newCall()
    let sampling: EngineCall<"chat"> | null = null
    let hasStarted = false
    try {
      await this.#ready(either)
      for (let attempt = 1; ; attempt++) {
        sampling = this.#engine.call("chat", params, either)
        for await (const batch of sampling.events) {
          hasStarted = true
          used.add(batch)
          yield batch
        }
        try {
          const result = await sampling.result
          used.end(result)
          sampling = null
          return result
        } catch (error) {
          if (hasStarted || attempt === 2 || !isEngineAway(error)) throw error
          await this.#ready(either)
        }
      }
    } catch (error) {
      throw clientError(error)
    } finally {
      if (sampling !== null) {
        left.abort()
        await used.drain(sampling)
      }
    }
  }

  /** Calls the engine for what is no completion. Tenants take turns there, too. @throws {HeddleError} */
  async ask<M extends "tokenize" | "detokenize">(
    { userId: tenant }: Caller,
    method: M,
    params: Omit<EngineParams<M>, "tenant">,
  ): Promise<EngineResult<M>> {
    try {
      await this.#ready()
      return await this.#engine.call(method, { ...params, tenant } as EngineParams<M>).result
    } catch (error) {
      throw clientError(error)
    }
  }

  /** A base model's answers belong to a rollout only where it is named: traces enclose calls of all kinds. */
  async #beginTurn(
    { caller, model, rollout: mark }: CompletionRequest,
    served: ServedModel,
    team: AdmittedRequest["team"],
    projectId: string,
  ): Promise<OpenTurn | null> {
    if (mark === null || (served.trained === null && !mark.isNamed)) return null
    return this.#rollouts.begin(team, { mark, projectId, userId: caller.userId, model, served })
  }

  /** Stores the usage row, the turn of a rollout, and what was sampled for training. Await it before the answer ends. */
  async record(admitted: AdmittedRequest, completion: CompletionRecord): Promise<void> {
    await this.recordEnd(admitted, completion)
    await this.recordSampled(admitted, completion)
  }

  /** The same, without what was sampled for training. */
  async recordEnd({ usage, turn }: AdmittedRequest, completion: CompletionRecord): Promise<void> {
    await Promise.all([usage.store(), turn === null ? null : this.#rollouts.add(turn, completion, true)])
  }

  /** Keeps what was sampled for training, once for each choice. Await it before the client is told the choices' keys. */
  async recordSampled({ served }: AdmittedRequest, completion: CompletionRecord): Promise<void> {
    if (served.trained !== null)
      this.#ledger.add(toLedgerRows(served, completion, await this.#fingerprint(served.base)))
  }

  /** Keeps what a stream that broke off had brought, as a turn that is not finished. */
  async recordBroken({ turn, request }: AdmittedRequest, completion: CompletionRecord): Promise<void> {
    if (turn === null || completion.choices.length === 0) return
    try {
      await this.#rollouts.add(turn, completion, false)
    } catch (error) {
      // Nobody is there to hear of it: the stream has ended with an error, or its client has left.
      if (isStoreUnavailable(error)) return
      this.#log.error({ err: error, request_id: request.requestId }, "a turn that broke off could not be stored")
    }
  }

  /** Hash of the base's config, tokenizer and chat template, constant while the server runs; empty without engine. */
  async #fingerprint(base: BaseRef): Promise<string> {
    const known = this.#fingerprints.get(base.name)
    if (known !== undefined) return known
    const description = await this.#engine.call("base.resolve", { base }).result.catch(() => null)
    if (description !== null) this.#fingerprints.set(base.name, description.fingerprint)
    return description?.fingerprint ?? ""
  }

  /** @throws {EngineFailure} `unavailable`; `cancelled` as soon as the signal fires. */
  async #ready(signal?: AbortSignal): Promise<void> {
    if (this.#engine.status().state === "ready") return
    const left = Promise.withResolvers<never>()
    const leave = () => left.reject(new EngineFailure("cancelled", "cancelled while it waited for the engine"))
    signal?.addEventListener("abort", leave)
    if (signal?.aborted === true) leave()
    try {
      await Promise.race([this.#engine.ready(this.#engineWaitMs), left.promise])
    } finally {
      signal?.removeEventListener("abort", leave)
    }
  }
}

/** The project of a checkpoint is charged for its use, unless the request names another. @throws {HeddleError} 403. */
function requireCharged(caller: Caller, { projectId: id, entity }: NonNullable<ServedModel["trained"]>): void {
  const entityId = ownTeam(caller, entity)?.id ?? ""
  requireRight(caller, caller.right, { id, entityId, name: entity })
}

function usageOwner(
  { requestId, caller, model }: CompletionRequest,
  served: ServedModel,
  projectId: string,
): UsageOwner {
  return {
    request_id: requestId,
    api_key_id: caller.apiKeyId,
    user_id: caller.userId,
    project_id: projectId,
    model,
    model_id: served.trained?.modelId ?? null,
    step: served.trained?.step ?? null,
    base_model: served.base.name,
  }
}

function chatParams(admitted: AdmittedRequest, call: SamplingCall): EngineParams<"chat"> {
  return { ...call, ...whatServes(admitted) }
}

function whatServes({ served: { base, adapter }, request, cacheSalt }: AdmittedRequest) {
  // A user, not a project: projects cost nothing to make, and each would be one turn more.
  return { base, adapter, tenant: request.caller.userId, cache_salt: cacheSalt }
}

function weightsKey({ base, adapter }: ServedModel): string {
  return adapter?.key ?? base.name
}

function clientError(error: unknown): unknown {
  return error instanceof EngineFailure ? toClientError(error) : error
}

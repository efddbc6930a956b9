/** Composition: opens the stores and the engine, hands them to the areas, mounts their routes. Tests build the same app. */
import type { FastifyInstance } from "fastify"
import { createHmac, randomUUID } from "node:crypto"
import { rm } from "node:fs/promises"
import path from "node:path"
import type { Config } from "./config.ts"
import type { Limits } from "./limits.ts"
import type { QuotaName } from "./wire/platform/quota.ts"
import { RequestRates } from "./http/request-rates.ts"
import { quotaRoutes } from "./platform/quota-routes.ts"
import { setQuotaDefaults } from "./storage/catalog/team-quotas.ts"
import { TeamUsage } from "./storage/team-usage.ts"
import { type Engine, EngineFailure } from "./engines/engine.ts"
import { SupervisedEngine } from "./engines/engine-process.ts"
import { noEngine } from "./engines/no-engine.ts"
import { pythonLauncher } from "./engines/python-process.ts"
import { HeddleError } from "./errors.ts"
import { Gateway } from "./gateway/gateway.ts"
import { evaluationRoutes } from "./evaluation/evaluation-routes.ts"
import { executionJobs, executionRoutes } from "./evaluation/execution/execution-routes.ts"
import { endCutOffCalls } from "./evaluation/execution/recorded-question.ts"
import { loadProviderSecrets, type ProviderSecrets } from "./evaluation/execution/providers/provider-secrets.ts"
import { loadPriceList, type PriceList } from "./evaluation/costs/price-list.ts"
import { FileLinks } from "./evaluation/project/file-links.ts"
import { registerDocs } from "./http/docs.ts"
import { TokenLedger } from "./gateway/token-ledger.ts"
import { recoverUsage } from "./gateway/usage-journal.ts"
import { registerPages } from "./http/pages.ts"
import { registerRoutes } from "./http/register-routes.ts"
import type { Route } from "./http/route.ts"
import { SessionCookie } from "./http/session-cookie.ts"
import { createHttpServer } from "./http/server.ts"
import { ChatService } from "./inference/chat-service.ts"
import { inferenceRoutes } from "./inference/inference-routes.ts"
import { accountRoutes } from "./platform/account-routes.ts"
import { apiKeyRoutes } from "./platform/api-key-routes.ts"
import { auditLogRoutes } from "./platform/audit-log-routes.ts"
import { createAuthenticator } from "./platform/authenticator.ts"
import { bootstrap, checkAdminKey, makeFirstKey } from "./platform/bootstrap.ts"
import { fileRoutes } from "./platform/file-routes.ts"
import { graphqlRoutes } from "./platform/graphql-routes.ts"
import { KeyUse } from "./platform/key-use.ts"
import { invitationRoutes } from "./platform/invitation-routes.ts"
import { metricsRoutes } from "./platform/metrics-routes.ts"
import { projectRoleRoutes } from "./platform/project-role-routes.ts"
import { projectListRoutes } from "./platform/project-list-routes.ts"
import { artifactFileRoutes } from "./platform/artifacts/artifact-file-routes.ts"
import { ArtifactLinks } from "./platform/artifacts/artifact-links.ts"
import { fileStreamRoute } from "./platform/runs/file-stream-route.ts"
import { RunFileLinks } from "./platform/runs/run-file-links.ts"
import { runFileRoutes } from "./platform/runs/run-file-routes.ts"
import { serviceRoutes } from "./platform/service-routes.ts"
import { refusedRequestRoutes } from "./platform/refused-request-routes.ts"
import { sessionRoutes, signInPath } from "./platform/session-routes.ts"
import { Sessions } from "./platform/sessions.ts"
import { teamRoutes } from "./platform/team-routes.ts"
import { removeJobFiles } from "./scheduler/job-spec.ts"
import { Scheduler } from "./scheduler/scheduler.ts"
import { removeModelRecords, removeOldRecords } from "./scheduler/training-records.ts"
import { removeAuditLogs } from "./storage/catalog/audit-logs.ts"
import { removeExpiredResponses } from "./storage/catalog/stored-responses.ts"
import { artifactCollector } from "./storage/artifact-collector.ts"
import { blobCollector } from "./storage/blob-collector.ts"
import { DailyWork, type WorkLog } from "./storage/daily-work.ts"
import { settleCatalog, takeCatalog } from "./storage/catalog/catalog-home.ts"
import type { CatalogDatabase } from "./storage/catalog/open-catalog.ts"
import { startFailure } from "./storage/data-folder.ts"
import { openStores, type Stores } from "./storage/open-stores.ts"
import { ProjectRemoval } from "./storage/project-removal.ts"
import { loadServerSecret, notTheSecretOf } from "./storage/server-secret.ts"
import { removeDeletedPayloads } from "./storage/traces/calls/deleted-payloads.ts"
import { ThreadPool } from "./threads/thread-pool.ts"
import type { BaseRef } from "./wire/engine/base.ts"
import type { Health } from "./wire/training/health.ts"
import { AllowedBases } from "./training/allowed-bases.ts"
import { type CheckBase, createBaseModels } from "./training/base-models.ts"
import { FetchPolicy } from "./outbound/public-address.ts"
import { trainingRoutes } from "./training/training-routes.ts"
import { TrajectoryReader } from "./training/trajectories/trajectory-reader.ts"

const repositoryRoot = path.resolve(import.meta.dirname, "../..")
const shippedModels = new Map([["heddle/tiny", path.join(repositoryRoot, "engine/models/heddle-tiny")]])

/** How long a request may wait for the engine to start, and then to look a model up on its hub. */
const engineStartMs = 10_000
const hubLookupMs = 20_000
/** How long a server that stops lets its requests run. */
const defaultDrainMs = 20_000
/** How long a job's creation may wait for its data from an https address. */
const fetchTimeoutMs = 300_000

/** What a person needs at the first start, to be shown once. */
export interface Welcome {
  key: string
  /** Path of a link that signs a browser in, once and until `signInUntil`. */
  signInPath: string
  signInUntil: Date
}

export interface App {
  server: FastifyInstance
  stores: Stores
  /** Every route, for the tests that go through all of them. */
  routes: readonly Route[]
  /** Makes a key where there is none; null where there is. Call it when the server listens. */
  welcome: () => Promise<Welcome | null>
  /** Requests that take longer than `drainMs` are cut off, as if their clients had left. */
  close: (drainMs?: number) => Promise<void>
}

/**
 * `engine` replaces the one that `config` names.
 * @throws {Error} with a sentence for the operator when the server cannot start; nothing is left open.
 */
export async function createApp(config: Config, engine?: Engine): Promise<App> {
  checkAdminKey(config.adminKey)
  const read: ReadSettings = {
    fetchPolicy: new FetchPolicy(config.fetchAllow),
    allowedBases: new AllowedBases(config.baseModels),
    priceList: await loadPriceList(config.pricesFile),
    secrets: await loadProviderSecrets(config.secretsFile),
  }
  const server = await createHttpServer(config)
  const runningEngine = engine ?? startEngine(config, server)
  const stores = await openStores({
    dataDir: config.dataDir,
    catalog: { postgresUrl: config.postgresUrl, template: config.catalogTemplate },
    clickhouseUrl: config.clickhouseUrl,
    log: server.log,
    limits: config.limits,
  }).catch(async (error: unknown) => {
    await runningEngine.close()
    throw await startFailure(config.dataDir, error)
  })
  try {
    return await compose(config, server, stores, runningEngine, read)
  } catch (error) {
    await Promise.all([runningEngine.close(), stores.close()])
    throw await startFailure(config.dataDir, error)
  }
}

/** What settings name or hold, read before anything is opened: a start that fails on one fails at once. */
interface ReadSettings {
  fetchPolicy: FetchPolicy
  allowedBases: AllowedBases
  priceList: PriceList
  secrets: ProviderSecrets
}

async function compose(
  config: Config,
  server: FastifyInstance,
  stores: Stores,
  engine: Engine,
  { fetchPolicy, allowedBases, priceList, secrets }: ReadSettings,
): Promise<App> {
  const { catalog: database, blobs, dataDir } = stores
  const secret = await settledSecret(config, stores)
  await bootstrap(database, config.entity, config.adminKey)
  const ledger = new TokenLedger(stores.traces, server.log)
  await recoverUsage(dataDir, database, server.log)
  const gateway = new Gateway({
    database,
    engine,
    dataDir,
    shippedBases: shippedModels,
    secret,
    ledger,
    log: server.log,
    limits: config.limits,
  })
  const keyUse = new KeyUse(database, server.log)
  await setQuotaDefaults(database, quotaDefaults(config.limits))
  const rates = new RequestRates()
  const usage = new TeamUsage(database, stores.traces, server.log)
  const authenticator = createAuthenticator(database, (apiKeyId) => keyUse.saw(apiKeyId))
  const sessions = new Sessions(database, config.limits, authenticator.identityOfHash)
  const cookie = new SessionCookie(secret)
  const trajectories = new TrajectoryReader()
  // Behind the start, which it would slow down, and ahead of the first job, which would wait for it.
  server.addHook("onListen", () => trajectories.start())
  const threads = new ThreadPool(new URL("./task-thread.ts", import.meta.url), config.limits)
  server.addHook("onListen", () => threads.start())
  const projectRemoval = new ProjectRemoval({
    stores,
    log: server.log,
    removeModelFiles: (modelId) => removeModelFiles(gateway, dataDir, modelId),
    removeJobFiles: (jobId) => removeJobFiles(dataDir, jobId),
  })
  const background = [
    keyUse,
    usage,
    projectRemoval,
    blobCollector(stores, server.log),
    artifactCollector(stores, server.log),
    auditRetention(database, config.limits.audit_log_days, server.log),
    expiredResponses(database, server.log),
    deletedPayloads(stores, server.log),
    recordRetention(stores, config.limits.training_record_days, server.log),
  ]
  for (const work of background) server.addHook("onListen", () => work.start())
  const exclusive = config.postgresUrl === null
  const scheduler = new Scheduler({
    database,
    engine,
    dataDir,
    findLedgerEntries: (projectId, keys) => ledger.find(projectId, keys),
    log: server.log,
    owner: randomUUID(),
    exclusive,
    keptOptimizerStates: config.limits.optimizer_states_per_model,
  })
  await scheduler.start()

  const evaluation = {
    database,
    traces: stores.traces,
    writer: stores.callWriter,
    blobs,
    fileLinks: new FileLinks(secret),
    priceList,
    threads,
    limits: config.limits,
  }
  const execution = { ...evaluation, chatModels: new ChatService(gateway), secrets, fetchPolicy }
  const executions = executionJobs(execution, { log: server.log, exclusive })
  await endCutOffCalls(evaluation).catch((error: unknown) =>
    server.log.error({ err: error }, "calls that a kill cut off could not be ended; the next start tries again"),
  )
  await executions.start()
  const runs = {
    database,
    traces: stores.traces,
    blobs,
    threads,
    links: new RunFileLinks(secret),
    artifactLinks: new ArtifactLinks(secret),
    limits: config.limits,
  }
  const accounts = { database, invalidate: () => authenticator.invalidate() }
  const maximumBytes = config.maximumBodyBytes
  const checkHealth = () => healthOf(stores)
  const routes: Route[] = [
    ...trainingRoutes({
      database,
      blobs,
      dataDir,
      baseModels: createBaseModels({ shipped: shippedModels, allowed: allowedBases, checkBase: baseCheck(engine) }),
      wakeScheduler: () => scheduler.wake(),
      afterUse: (modelId, step, remove) => gateway.adapters.afterUse(modelId, step, remove),
      useCheckpoint: (modelId, step) => gateway.adapters.take(modelId, step),
      maximumTokens: (base) => maximumTokens(engine, base),
      trajectories,
      limits: { maximumBodyBytes: maximumBytes },
      fetchPolicy,
      fetchLimits: { maximumBytes, timeoutMs: fetchTimeoutMs },
      checkHealth,
      diskShortage: stores.diskShortage,
      checkEngine: () => checkEngine(engine),
      requireEngine: () => requireEngine(engine),
    }),
    ...inferenceRoutes({ database, gateway, limits: config.limits, checkHealth }),
    ...evaluationRoutes(evaluation),
    ...executionRoutes(execution, executions),
    ...fileRoutes({ database, blobs, maximumFileBytes: maximumBytes }),
    ...serviceRoutes(database),
    ...metricsRoutes(
      {
        queues: [...stores.queues, threads.queue],
        bodies: server.bodyBudget,
        requests: server.requestTurns,
        chats: () => gateway.inProgress,
        waitingCalls: () => evaluation.writer.heldBytes,
      },
      config.metricsAreOpen,
    ),
    ...graphqlRoutes(runs),
    fileStreamRoute(runs),
    ...runFileRoutes(runs),
    ...artifactFileRoutes(runs),
    ...apiKeyRoutes(accounts),
    ...accountRoutes(accounts),
    ...teamRoutes(accounts),
    ...invitationRoutes({ ...accounts, limits: config.limits }),
    ...projectRoleRoutes(accounts),
    ...auditLogRoutes(database),
    ...quotaRoutes({ ...accounts, rates }),
    ...projectListRoutes({
      database,
      projectDeleted: () => {
        scheduler.wake()
        projectRemoval.wake()
      },
    }),
    ...refusedRequestRoutes(server.refusedRequests),
    ...sessionRoutes({ database, sessions, cookie, limits: config.limits }),
  ]
  registerRoutes(server, routes, authenticator.authenticate, {
    rates,
    sessions: {
      secretOf: (request) => cookie.read(request),
      authenticate: (value) => sessions.authenticate(value),
    },
  })
  await registerDocs(server, routes)
  await registerPages(server, config.pagesDir)
  const close = async (drainMs = defaultDrainMs) => {
    const cut = setTimeout(() => server.server.closeAllConnections(), drainMs)
    // Together: requests that are still answered may wait for an execution.
    await Promise.all([server.close(), executions.close()])
    clearTimeout(cut)
    await Promise.all([scheduler, ...background].map((work) => work.close()))
    await Promise.all([trajectories.close(), threads.close(), engine.close()])
    await gateway.settled()
    await ledger.flush()
    await stores.close()
  }
  const welcome = async () => {
    const first = await makeFirstKey(database)
    if (first === null) return null
    const { token, expiresAt } = await sessions.makeToken(first)
    return { key: first.key, signInPath: signInPath(token), signInUntil: expiresAt }
  }
  return { server, stores, routes, welcome, close }
}

function quotaDefaults(limits: Limits): Record<QuotaName, number> {
  return {
    stored_bytes: limits.team_stored_bytes,
    models: limits.team_models,
    projects: limits.team_projects,
    open_jobs: limits.team_open_jobs,
    api_keys: limits.team_api_keys,
    requests_per_minute: limits.key_requests_per_minute,
  }
}

/** false: a request uses the model. */
async function removeModelFiles(gateway: Gateway, dataDir: string, modelId: string): Promise<boolean> {
  let isGone = false
  await gateway.adapters.afterUse(modelId, null, async () => {
    await rm(path.join(dataDir, "checkpoints", modelId), { recursive: true, force: true })
    await removeModelRecords(dataDir, modelId)
    isGone = true
  })
  return isGone
}

function auditRetention(database: CatalogDatabase, days: number, log: WorkLog): DailyWork {
  const remove = async () => {
    const removed = await removeAuditLogs(database, days)
    if (removed > 0) log.info({ removed }, "entries of the record of changes were removed at the end of their time")
  }
  return new DailyWork(remove, log, "old entries of the record of changes could not be removed")
}

function expiredResponses(database: CatalogDatabase, log: WorkLog): DailyWork {
  const remove = async () => {
    const removed = await removeExpiredResponses(database)
    if (removed > 0) log.info({ removed }, "stored responses were removed at the end of their time")
  }
  return new DailyWork(remove, log, "stored responses whose time is over could not be removed")
}

function recordRetention({ catalog, dataDir }: Stores, days: number, log: WorkLog): DailyWork {
  const remove = async () => {
    const removed = await removeOldRecords(catalog, dataDir, days)
    if (removed > 0) log.info({ removed }, "trajectories and tokens of old training jobs were removed")
  }
  return new DailyWork(remove, log, "trajectories and tokens of old training jobs could not be removed")
}

function deletedPayloads({ traces }: Stores, log: WorkLog): DailyWork {
  const remove = async () => {
    if (await removeDeletedPayloads(traces)) log.info({}, "payloads of deleted calls were removed")
  }
  return new DailyWork(remove, log, "payloads of deleted calls could not be removed")
}

/** The data folder's secret. @throws {Error} with a sentence for the operator when it and the catalog do not belong together. */
async function settledSecret({ postgresUrl }: Config, { catalog: database, dataDir }: Stores): Promise<Buffer> {
  const { secret, isNew } = await loadServerSecret(dataDir)
  const mark = createHmac("sha256", secret).update("data folder").digest("hex")
  // The embedded catalog lies in the folder itself: without the file the secret is lost, and with another it was replaced.
  if (postgresUrl === null && isNew) await takeCatalog(database, mark)
  if (await settleCatalog(database, mark)) return secret
  if (postgresUrl === null) throw notTheSecretOf(dataDir)
  throw new Error(
    `the catalog in PostgreSQL (HEDDLE_POSTGRES_URL) belongs to another data folder than ${dataDir}, in which the ` +
      "files and traces lie that it names. Start with that folder (--data-dir), or give this one a database of its " +
      "own. If that folder is lost, delete the row of the table catalog_home, and the catalog is this one's",
  )
}

function startEngine(config: Config, server: FastifyInstance): Engine {
  if (config.engine === "none") return noEngine
  const { chat_template_ms, grammar_bytes, grammar_ms } = config.limits
  const options = { ...config.engineMemory, chat_template_ms, grammar_bytes, grammar_ms }
  const launch = pythonLauncher(config.python, config.engineEnvironment, options)
  return new SupervisedEngine({ launch, log: server.log })
}

/** Asks the engine, which may have to ask the model hub. */
function baseCheck(engine: Engine): CheckBase {
  return async (base) => {
    try {
      await engine.ready(engineStartMs)
      await engine.call("base.resolve", { base }, AbortSignal.timeout(hubLookupMs)).result
      return { found: true }
    } catch (error) {
      if (!(error instanceof EngineFailure)) throw error
      if (error.kind === "not_found") return { found: false }
      if (error.kind === "invalid") return { unsupported: error.message }
      throw new HeddleError("engine_unavailable", `cannot look up the base model "${base.name}": ${error.message}`, {
        cause: error,
      })
    }
  }
}

async function maximumTokens(engine: Engine, base: BaseRef): Promise<number | null> {
  try {
    await engine.ready(engineStartMs)
    return (await engine.call("base.resolve", { base }, AbortSignal.timeout(hubLookupMs)).result).max_model_len
  } catch (error) {
    if (error instanceof EngineFailure) return null
    throw error
  }
}

/** @throws {HeddleError} while a store on another machine does not answer. */
async function healthOf(stores: Stores): Promise<Health> {
  await stores.checkReached()
  const reason = await stores.diskShortage()
  return reason === null ? { status: "ok" } : { status: "degraded", reason }
}

function requireEngine(engine: Engine): void {
  const { state, reason } = engine.status()
  if (state === "none") throw new HeddleError("engine_unavailable", reason ?? "this server runs without an engine")
}

async function checkEngine(engine: Engine): Promise<void> {
  await engine.ready(1_000)
  await engine.call("status", {}, AbortSignal.timeout(5_000)).result
}

/** Composition: opens the stores and the engine, hands them to the areas, mounts their routes. Tests build the same app. */
import type { FastifyInstance } from "fastify"
import { randomUUID } from "node:crypto"
import { rm } from "node:fs/promises"
import path from "node:path"
import { openAgents } from "./agents/agents-area.ts"
import { openCalls } from "./calls/calls-area.ts"
import { loadPriceList, type PriceList } from "./calls/costs/price-list.ts"
import type { Config } from "./config.ts"
import { baseCheck, countTokens, engineChecks, maximumTokens, requireEngine } from "./engines/engine-checks.ts"
import { exportCheckpoint } from "./engines/engine-exports.ts"
import { importAdapter } from "./engines/engine-imports.ts"
import { SupervisedEngine } from "./engines/engine-process.ts"
import { openEnginePool } from "./engines/pool/open-engine-pool.ts"
import type { Engine, EngineMember } from "./engines/engine.ts"
import { noEngine } from "./engines/no-engine.ts"
import { pythonLauncher } from "./engines/python-process.ts"
import { openEvaluations } from "./evaluations/evaluations-area.ts"
import { loadProviderSecrets, type ProviderSecrets } from "./gateway/providers/provider-secrets.ts"
import { Gateway } from "./gateway/gateway.ts"
import { TokenLedger } from "./gateway/token-ledger.ts"
import { recoverUsage } from "./gateway/usage-journal.ts"
import type { Area, BackgroundWork } from "./http/area.ts"
import { registerDocs } from "./http/pages/docs.ts"
import { readGuides, registerGuides } from "./http/pages/guides.ts"
import { registerPages } from "./http/pages/pages.ts"
import { registerRoutes } from "./http/register-routes.ts"
import { RequestRates } from "./http/requests/request-rates.ts"
import type { Route } from "./http/route.ts"
import { serverVersion } from "./http/server-version.ts"
import { createHttpServer } from "./http/server.ts"
import { ChatService } from "./inference/chat/chat-service.ts"
import { openInference } from "./inference/inference-area.ts"
import { heldLabels } from "./labelling/annotation/training-labels.ts"
import { openLabelling } from "./labelling/labelling-area.ts"
import type { Limits } from "./limits.ts"
import { openMcp } from "./mcp/mcp-area.ts"
import { openObjects } from "./objects/objects-area.ts"
import { FileLinks } from "./objects/project/file-links.ts"
import { FetchPolicy } from "./outbound/public-address.ts"
import { openPlatform, type Welcome } from "./platform/platform-area.ts"
import type { EngineFigures } from "./platform/engine-metrics.ts"
import { bootstrap, checkAdminKey } from "./platform/sign-in/bootstrap.ts"
import { removeJobFiles } from "./scheduler/job-spec.ts"
import { Scheduler } from "./scheduler/scheduler.ts"
import { removeModelRecords } from "./scheduler/training-records.ts"
import { ArrivedCalls } from "./storage/arrived-calls.ts"
import { Backups } from "./storage/backup/backups.ts"
import { artifactCollector } from "./storage/artifact-collector.ts"
import { blobCollector } from "./storage/blob-collector.ts"
import { setQuotaDefaults } from "./storage/catalog/accounts/team-quotas.ts"
import { startFailure } from "./storage/data-folder.ts"
import { openStores, type Stores } from "./storage/open-stores.ts"
import { ProjectRemoval } from "./storage/project-removal.ts"
import { runCollector } from "./storage/run-collector.ts"
import { settledSecret } from "./storage/settled-secret.ts"
import { TeamUsage } from "./storage/team-usage.ts"
import { ThreadPool } from "./threads/thread-pool.ts"
import { AllowedBases } from "./training/allowed-bases.ts"
import { createBaseModels } from "./training/base-models.ts"
import { CheckpointExports } from "./training/exports/checkpoint-exports.ts"
import { removeBrokenImports } from "./training/imports/import-checkpoint.ts"
import { openTraining } from "./training/training-area.ts"
import { TrajectoryReader } from "./training/trajectories/trajectory-reader.ts"
import { datasetRows } from "./transfer/export/dataset-rows.ts"
import { openTransfer } from "./transfer/transfer-area.ts"
import type { QuotaName } from "./wire/platform/quota.ts"
import type { Health } from "./wire/training/health.ts"

const repositoryRoot = path.resolve(import.meta.dirname, "../..")
const shippedModels = new Map([["heddle/tiny", path.join(repositoryRoot, "engine/models/heddle-tiny")]])

export type { Welcome } from "./platform/platform-area.ts"

/** How long a server that stops lets its requests run. */
const defaultDrainMs = 20_000
/** How long a job's creation may wait for its data from an https address. */
const fetchTimeoutMs = 300_000

export interface App {
  server: FastifyInstance
  stores: Stores
  /** Every route, for the tests that go through all of them. */
  routes: readonly Route[]
  /** Each engine on another machine, and whether it is attached, for people. */
  engineLines: () => string[]
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
  const runningEngine = engine ?? (await startEngine(config, server))
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

/** Everything that settings name or hold, read before anything is opened, so that a bad one fails the start at once. */
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
  const { limits } = config
  const { log } = server
  const secret = await settledSecret(database, dataDir, { isEmbedded: config.postgresUrl === null })
  await bootstrap(database, config.entity, config.adminKey)
  const ledger = new TokenLedger(stores.traces, log)
  const usageLeft = await recoverUsage(dataDir, database, log)
  const gateway = new Gateway({
    database,
    usageLeft,
    engine,
    dataDir,
    shippedBases: shippedModels,
    secret,
    ledger,
    log,
    limits,
  })
  await setQuotaDefaults(database, quotaDefaults(limits))
  const rates = new RequestRates()
  const usage = new TeamUsage(database, stores.traces, log)
  const threads = new ThreadPool(new URL("./task-thread.ts", import.meta.url), limits)
  const trajectories = new TrajectoryReader()
  const projectRemoval = new ProjectRemoval({
    stores,
    log,
    removeModelFiles: (modelId) => removeModelFiles(gateway, dataDir, modelId),
    removeJobFiles: (jobId) => removeJobFiles(dataDir, jobId),
  })
  const exclusive = config.postgresUrl === null
  const scheduler = new Scheduler({
    database,
    engine,
    dataDir,
    traces: stores.traces,
    findLedgerEntries: (projectId, keys) => ledger.find(projectId, keys),
    log,
    owner: randomUUID(),
    exclusive,
    keptOptimizerStates: limits.optimizer_states_per_model,
  })
  await scheduler.start()

  const maximumBytes = config.maximumBodyBytes
  const checkHealth = () => healthOf(stores)
  const store = {
    database,
    traces: stores.traces,
    writer: stores.callWriter,
    blobs,
    fileLinks: new FileLinks(secret),
    priceList,
    threads,
    limits,
  }
  const exports = new CheckpointExports({
    dataDir,
    make: (request, target) => exportCheckpoint(engine, dataDir, request, target),
    maximumBytes: limits.checkpoint_export_bytes,
    log,
  })
  await exports.open()
  await removeBrokenImports(database, dataDir)
  const backups = new Backups({
    dataDir,
    folder: config.backupDir,
    stores: stores.embedded,
    flush: () => Promise.all([ledger.flush(), usage.flush()]),
    log,
  })
  await backups.open()
  const training = openTraining(
    {
      database,
      blobs,
      dataDir,
      baseModels: createBaseModels({
        shipped: shippedModels,
        allowed: allowedBases,
        checkBase: baseCheck(engine),
        foldersAreHere: typeof config.engine === "string",
      }),
      wakeScheduler: () => scheduler.wake(),
      afterUse: (modelId, step, remove) => gateway.adapters.afterUse(modelId, step, remove),
      useCheckpoint: (modelId, step) => gateway.adapters.take(modelId, step),
      exports,
      importAdapter: (params) => importAdapter(engine, params),
      maximumTokens: (base) => maximumTokens(engine, base),
      trajectories,
      limits: { maximumBodyBytes: maximumBytes, maximumImportBytes: limits.checkpoint_import_bytes },
      fetchPolicy,
      fetchLimits: { maximumBytes, timeoutMs: fetchTimeoutMs },
      checkHealth,
      diskShortage: stores.diskShortage,
      engineChecks: () => engineChecks(engine),
      requireEngine: () => requireEngine(engine),
      traces: stores.traces,
      threads,
      ledger,
      countTokens: (base, row) => countTokens(engine, base, row),
      areaSources: {
        queueLabels: (principal, project, queueId) => heldLabels(store, principal, project, queueId),
        datasetRows: (project, name) => datasetRows(store, project, name),
      },
    },
    log,
    limits.training_record_days,
  )
  const arrived = await ArrivedCalls.open(dataDir, log)
  const evaluations = openEvaluations(
    { ...store, chatModels: new ChatService(gateway), secrets, fetchPolicy },
    { log, exclusive, arrived },
  )
  await evaluations.start()
  const platform = openPlatform({
    database,
    traces: stores.traces,
    blobs,
    backups,
    threads,
    secret,
    limits,
    maximumFileBytes: maximumBytes,
    rates,
    refusedRequests: server.refusedRequests,
    metrics: {
      queues: [...stores.queues, threads.queue],
      bodies: server.bodyBudget,
      requests: server.requestTurns,
      chats: () => gateway.inProgress,
      waitingCalls: () => stores.callWriter.heldBytes,
      engines: () => engineFigures(engine),
    },
    metricsAreOpen: config.metricsAreOpen,
    projectDeleted: () => {
      scheduler.wake()
      projectRemoval.wake()
    },
    log,
  })
  const guides = await readGuides()
  const areas: Area[] = [
    training,
    openInference({ database, gateway, limits, log, checkHealth }),
    openObjects(store, evaluations.published),
    openLabelling(store, log),
    openCalls(store, log),
    openAgents(store),
    openTransfer(store),
    evaluations,
    platform,
    openMcp({ inject: (request) => server.inject(request), version: await serverVersion(), guides }),
  ]
  const background: BackgroundWork[] = [
    usage,
    projectRemoval,
    blobCollector(stores, log),
    artifactCollector(stores, log),
    runCollector(stores, log),
    ...areas.flatMap((area) => area.background ?? []),
  ]
  for (const work of background) server.addHook("onListen", () => work.start())
  const routes = areas.flatMap((area) => area.routes)
  registerRoutes(server, routes, platform.authenticate, { rates, sessions: platform.sessions })
  await registerDocs(server, routes)
  registerGuides(server, guides)
  await registerPages(server, config.pagesDir)
  const close = async (drainMs = defaultDrainMs) => {
    const cut = setTimeout(() => server.server.closeAllConnections(), drainMs)
    training.stopFollowing()
    // Together: requests that are still answered may wait for an execution.
    await Promise.all([server.close(), evaluations.close()])
    clearTimeout(cut)
    await Promise.all([scheduler, exports, backups, ...background].map((work) => work.close()))
    await Promise.all([threads.close(), trajectories.close(), engine.close()])
    await gateway.settled()
    await ledger.flush()
    arrived.close()
    await stores.close()
  }
  const engineLines = () => (typeof config.engine === "string" ? [] : engine.members().map(engineLine))
  return { server, stores, routes, engineLines, welcome: platform.welcome, close }
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

async function startEngine(config: Config, server: FastifyInstance): Promise<Engine> {
  if (config.engine === "none") return noEngine
  if (config.engine !== "process") {
    return openEnginePool(config.engine, { shippedBases: new Set(shippedModels.keys()), log: server.log })
  }
  const { chat_template_ms, grammar_bytes, grammar_ms } = config.limits
  const options = {
    ...config.engineMemory,
    ...config.sampler,
    dtype: config.engineDtype,
    trainers: config.engineTrainers,
    chat_template_ms,
    grammar_bytes,
    grammar_ms,
  }
  const launch = pythonLauncher(config.python, config.engineEnvironment, options)
  return new SupervisedEngine({ launch, log: server.log })
}

function engineFigures(engine: Engine): EngineFigures[] {
  return engine.members().map((member) => {
    const { state, heartbeat } = member.engine.status()
    return { name: member.name, isReady: state === "ready", heartbeat }
  })
}

function engineLine({ name, engine }: EngineMember): string {
  const { state, hello, reason } = engine.status()
  if (state === "ready") return `${name}: attached (${hello?.device_name})`
  return `${name}: ${reason ?? "no answer yet"}`
}

/** @throws {HeddleError} while a store on another machine does not answer. */
async function healthOf(stores: Stores): Promise<Health> {
  await stores.checkReached()
  const reason = await stores.diskShortage()
  return reason === null ? { status: "ok" } : { status: "degraded", reason }
}

/** Composition: opens the stores and the engine, hands them to the areas, mounts their routes. Tests build the same app. */
import type { FastifyInstance } from "fastify"
import { createHmac, randomUUID } from "node:crypto"
import path from "node:path"
import type { Config } from "./config.ts"
import { type Engine, EngineFailure } from "./engines/engine.ts"
import { SupervisedEngine } from "./engines/engine-process.ts"
import { noEngine } from "./engines/no-engine.ts"
import { pythonLauncher } from "./engines/python-process.ts"
import { HeddleError } from "./errors.ts"
import { loadServerSecret } from "./gateway/cache-salt.ts"
import { Gateway } from "./gateway/gateway.ts"
import { evaluationRoutes } from "./evaluation/evaluation-routes.ts"
import { executionJobs, executionRoutes } from "./evaluation/execution/execution-routes.ts"
import { endCutOffCalls } from "./evaluation/execution/recorded-question.ts"
import { loadProviderSecrets } from "./evaluation/execution/providers/provider-secrets.ts"
import { loadPriceList } from "./evaluation/costs/price-list.ts"
import { FileLinks } from "./evaluation/project/file-links.ts"
import { registerDocs } from "./http/docs.ts"
import { TokenLedger } from "./gateway/token-ledger.ts"
import { registerRoutes } from "./http/register-routes.ts"
import type { Route } from "./http/route.ts"
import { createHttpServer } from "./http/server.ts"
import { ChatService } from "./inference/chat-service.ts"
import { inferenceRoutes } from "./inference/inference-routes.ts"
import { accountRoutes } from "./platform/account-routes.ts"
import { apiKeyRoutes } from "./platform/api-key-routes.ts"
import { createAuthenticator } from "./platform/authenticator.ts"
import { bootstrap, checkAdminKey, makeFirstKey } from "./platform/bootstrap.ts"
import { fileRoutes } from "./platform/file-routes.ts"
import { graphqlRoutes } from "./platform/graphql-routes.ts"
import { serviceRoutes } from "./platform/service-routes.ts"
import { Scheduler } from "./scheduler/scheduler.ts"
import { BlobCollector } from "./storage/blob-collector.ts"
import { settleCatalog } from "./storage/catalog/catalog-home.ts"
import type { CatalogDatabase } from "./storage/catalog/open-catalog.ts"
import { openStores, type Stores } from "./storage/open-stores.ts"
import { CallWriter } from "./storage/traces/calls/calls-write.ts"
import type { BaseRef } from "./wire/engine/base.ts"
import { createBaseModels, type FindHubModel } from "./training/base-models.ts"
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

export interface App {
  server: FastifyInstance
  stores: Stores
  /** Every route, for the tests that go through all of them. */
  routes: readonly Route[]
  /** Makes a key, to be shown once, where there is none; null where there is. Call it when the server listens. */
  firstKey: () => Promise<string | null>
  /** Requests that take longer than `drainMs` are cut off, as if their clients had left. */
  close: (drainMs?: number) => Promise<void>
}

/**
 * `engine` replaces the one that `config` names.
 * @throws {Error} with a sentence for the operator when the server cannot start; nothing is left open.
 */
export async function createApp(config: Config, engine?: Engine): Promise<App> {
  checkAdminKey(config.adminKey)
  const fetchPolicy = new FetchPolicy(config.fetchAllow)
  const server = await createHttpServer(config)
  const runningEngine = engine ?? startEngine(config, server)
  const stores = await openStores({
    dataDir: config.dataDir,
    catalog: { postgresUrl: config.postgresUrl, template: config.catalogTemplate },
    clickhouseUrl: config.clickhouseUrl,
    log: server.log,
  }).catch(async (error: unknown) => {
    await runningEngine.close()
    throw error
  })
  try {
    return await compose(config, server, stores, runningEngine, fetchPolicy)
  } catch (error) {
    await Promise.all([runningEngine.close(), stores.close()])
    throw error
  }
}

async function compose(
  config: Config,
  server: FastifyInstance,
  stores: Stores,
  engine: Engine,
  fetchPolicy: FetchPolicy,
): Promise<App> {
  const { catalog: database, blobs, dataDir } = stores
  const secret = await loadServerSecret(dataDir)
  if (config.postgresUrl !== null) await settle(database, dataDir, secret)
  await bootstrap(database, config.entity, config.adminKey)
  const priceList = await loadPriceList(config.pricesFile)
  const secrets = await loadProviderSecrets(config.secretsFile)
  const ledger = new TokenLedger(stores.traces, server.log)
  const gateway = new Gateway({
    database,
    engine,
    dataDir,
    shippedBases: shippedModels,
    secret,
    ledger,
    log: server.log,
  })
  const authenticator = createAuthenticator(database)
  const trajectories = new TrajectoryReader()
  // Behind the start, which it would slow down, and ahead of the first job, which would wait for it.
  server.addHook("onListen", () => trajectories.start())
  const collector = new BlobCollector(stores, server.log)
  server.addHook("onListen", () => collector.start())
  const exclusive = config.postgresUrl === null
  const scheduler = new Scheduler({
    database,
    engine,
    dataDir,
    findLedgerEntries: (projectId, keys) => ledger.find(projectId, keys),
    log: server.log,
    owner: randomUUID(),
    exclusive,
  })
  await scheduler.start()

  const evaluation = {
    database,
    traces: stores.traces,
    writer: new CallWriter(stores.traces),
    blobs,
    fileLinks: new FileLinks(secret),
    priceList,
  }
  const execution = { ...evaluation, chatModels: new ChatService(gateway), secrets, fetchPolicy }
  const executions = executionJobs(execution, { log: server.log, exclusive })
  await endCutOffCalls(evaluation).catch((error: unknown) =>
    server.log.error({ err: error }, "calls that a kill cut off could not be ended; the next start tries again"),
  )
  await executions.start()
  const accounts = { database, invalidate: () => authenticator.invalidate() }
  const maximumBytes = config.maximumBodyBytes
  const routes: Route[] = [
    ...trainingRoutes({
      database,
      blobs,
      dataDir,
      baseModels: createBaseModels(shippedModels, hubLookup(engine)),
      wakeScheduler: () => scheduler.wake(),
      afterUse: (modelId, step, remove) => gateway.adapters.afterUse(modelId, step, remove),
      maximumTokens: (base) => maximumTokens(engine, base),
      trajectories,
      limits: { maximumBodyBytes: maximumBytes },
      fetchPolicy,
      fetchLimits: { maximumBytes, timeoutMs: fetchTimeoutMs },
      checkStores: stores.checkReached,
      checkEngine: () => checkEngine(engine),
      requireEngine: () => requireEngine(engine),
    }),
    ...inferenceRoutes({ database, gateway, checkStores: stores.checkReached }),
    ...evaluationRoutes(evaluation),
    ...executionRoutes(execution, executions),
    ...fileRoutes({ database, blobs, maximumFileBytes: maximumBytes }),
    ...serviceRoutes(database),
    ...graphqlRoutes(database),
    ...apiKeyRoutes(accounts),
    ...accountRoutes(accounts),
  ]
  registerRoutes(server, routes, authenticator.authenticate)
  await registerDocs(server, routes)
  const close = async (drainMs = defaultDrainMs) => {
    const cut = setTimeout(() => server.server.closeAllConnections(), drainMs)
    // Together: requests that are still answered may wait for an execution.
    await Promise.all([server.close(), executions.close()])
    clearTimeout(cut)
    await Promise.all([scheduler.close(), collector.close()])
    await Promise.all([trajectories.close(), engine.close()])
    await gateway.settled()
    await ledger.flush()
    await stores.close()
  }
  return { server, stores, routes, firstKey: () => makeFirstKey(database), close }
}

/** @throws {Error} with a sentence for the operator when the catalog is another data folder's. */
async function settle(database: CatalogDatabase, dataDir: string, secret: Buffer): Promise<void> {
  const mark = createHmac("sha256", secret).update("data folder").digest("hex")
  if (await settleCatalog(database, mark)) return
  throw new Error(
    `the catalog in PostgreSQL (HEDDLE_POSTGRES_URL) belongs to another data folder than ${dataDir}, in which the ` +
      "files and traces lie that it names. Start with that folder (--data-dir), or give this one a database of its " +
      "own. If that folder is lost, delete the row of the table catalog_home, and the catalog is this one's",
  )
}

function startEngine(config: Config, server: FastifyInstance): Engine {
  if (config.engine === "none") return noEngine
  return new SupervisedEngine({ launch: pythonLauncher(config.python), log: server.log })
}

/** Asks the engine, which may have to ask the model hub. */
function hubLookup(engine: Engine): FindHubModel {
  return async (base) => {
    try {
      await engine.ready(engineStartMs)
      return await engine.call("base.resolve", { base }, AbortSignal.timeout(hubLookupMs)).result
    } catch (error) {
      if (!(error instanceof EngineFailure)) throw error
      if (error.kind === "not_found" || error.kind === "invalid") return null
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

function requireEngine(engine: Engine): void {
  const { state, reason } = engine.status()
  if (state === "none") throw new HeddleError("engine_unavailable", reason ?? "this server runs without an engine")
}

async function checkEngine(engine: Engine): Promise<void> {
  await engine.ready(1_000)
  await engine.call("status", {}, AbortSignal.timeout(5_000)).result
}

/** Opens the inference area alone over HTTP, with a catalog of its own and the fake engine behind a real socket. */
import type { FastifyInstance } from "fastify"
import assert from "node:assert"
import path from "node:path"
import { SupervisedEngine } from "../../src/engines/engine-process.ts"
import type { FakeEngine } from "../../src/engines/fake-engine.ts"
import type { LaunchEngine } from "../../src/engines/python-process.ts"
import { loadServerSecret } from "../../src/storage/server-secret.ts"
import { Gateway, type GatewayOptions } from "../../src/gateway/gateway.ts"
import { TokenLedger } from "../../src/gateway/token-ledger.ts"
import type { Principal } from "../../src/http/principal.ts"
import { registerRoutes } from "../../src/http/register-routes.ts"
import { createHttpServer } from "../../src/http/server.ts"
import { defaultLimits, type Limits } from "../../src/limits.ts"
import { openInference } from "../../src/inference/inference-area.ts"
import { openTraces } from "../../src/storage/traces/open-traces.ts"
import { addTenant, addUser, openTestCatalog, type TestCatalog, type TestTenant } from "./test-catalog.ts"

export interface InferenceApp {
  catalog: TestCatalog
  gateway: Gateway
  ledger: TokenLedger
  server: FastifyInstance
  /** Two tenants that share nothing; their names are their keys. Other users of acme's have the keys `colleague` and `newcomer`. */
  acme: TestTenant
  rival: TestTenant
  close(): Promise<void>
}

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined }

export async function openInferenceApp(
  launch: LaunchEngine | FakeEngine,
  options: Partial<GatewayOptions> = {},
  limits: Partial<Limits> = {},
): Promise<InferenceApp> {
  const catalog = await openTestCatalog()
  const { database, dataDir } = catalog
  const acme = await addTenant(database, "acme")
  const rival = await addTenant(database, "rival")
  const engine = new SupervisedEngine({
    launch: typeof launch === "function" ? launch : launch.launch,
    log: silent,
    backOffMs: () => 0,
  })
  const traces = await openTraces({ clickhouseUrl: null, folder: path.join(dataDir, "traces") })
  const ledger = new TokenLedger(traces, {
    error: (_object, message) => assert.fail(message),
  })
  const gateway = new Gateway({
    ledger,
    log: { error: (_object, message) => assert.fail(message) },
    database,
    engine,
    dataDir,
    shippedBases: new Map([["heddle/tiny", "/models/tiny"]]),
    secret: (await loadServerSecret(dataDir)).secret,
    limits: defaultLimits,
    ...options,
  })
  const server = await createHttpServer({ logLevel: "silent", prefix: null })
  const colleague = { ...acme, ...(await addUser(database, acme.entityId, "colleague")) }
  const newcomer = { ...acme, ...(await addUser(database, acme.entityId, "newcomer")) }
  const users = { acme, rival, colleague, newcomer }
  const principals = new Map(Object.entries(users).map(([key, user]) => [key, principalOf(user, key)]))
  const { routes } = openInference({
    database,
    gateway,
    limits: { ...defaultLimits, ...limits },
    log: silent,
    checkHealth: async () => ({ status: "ok" }),
  })
  registerRoutes(server, routes, (key) => Promise.resolve(principals.get(key) ?? null))
  const close = async () => {
    await server.close()
    await engine.close()
    await ledger.flush()
    await traces.close()
    await catalog.close()
  }
  return { catalog, gateway, ledger, server, acme, rival, close }
}

function principalOf(tenant: TestTenant, username: string): Principal {
  const entity = { id: tenant.entityId, name: tenant.entity, role: "member" } as const
  const { userId, apiKeyId } = tenant
  return {
    userId,
    username,
    apiKeyId,
    requestId: "req_test",
    requestsPerMinute: null,
    isAdmin: false,
    defaultEntity: entity,
    entities: [entity],
    projectRoles: new Map(),
    scope: "all",
    right: "write",
  }
}

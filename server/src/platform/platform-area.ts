/** Accounts and keys, signing in, uploads, and what the wandb client logs. */
import { SignedAddresses } from "../access/signed-addresses.ts"
import type { Area } from "../http/area.ts"
import type { Authenticate, SessionAuthentication } from "../http/principal.ts"
import type { RefusedRequests } from "../http/requests/refused-requests.ts"
import type { RequestRates } from "../http/requests/request-rates.ts"
import { SessionCookie } from "../http/session-cookie.ts"
import type { Limits } from "../limits.ts"
import type { Log } from "../log.ts"
import type { Backups } from "../storage/backup/backups.ts"
import type { BlobStore } from "../storage/blobs/blob-store.ts"
import { removeAuditLogs } from "../storage/catalog/accounts/audit-logs.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { DailyWork } from "../storage/daily-work.ts"
import type { TraceStore } from "../storage/traces/store/trace-store.ts"
import type { ThreadPool } from "../threads/thread-pool.ts"
import { accountRoutes } from "./account-routes.ts"
import { apiKeyRoutes } from "./api-key-routes.ts"
import { artifactFileRoutes } from "./artifacts/artifact-file-routes.ts"
import { ArtifactLinks } from "./artifacts/artifact-links.ts"
import { SentFiles } from "./artifacts/sent-files.ts"
import { auditLogRoutes } from "./audit-log-routes.ts"
import { backupRoutes } from "./backup-routes.ts"
import { fileRoutes } from "./file-routes.ts"
import { graphqlRoutes } from "./graphql/graphql-routes.ts"
import { invitationRoutes } from "./invitation-routes.ts"
import { type MetricSources, metricsRoutes } from "./metrics-routes.ts"
import { projectListRoutes } from "./project-list-routes.ts"
import { projectRoleRoutes } from "./project-role-routes.ts"
import { quotaRoutes } from "./quota-routes.ts"
import { refusedRequestRoutes } from "./refused-request-routes.ts"
import { fileStreamRoute } from "./runs/file-stream-route.ts"
import { RunFileLinks } from "./runs/run-file-links.ts"
import { runFileRoutes } from "./runs/run-file-routes.ts"
import { runMetricRoutes } from "./runs/run-metric-routes.ts"
import { serviceRoutes } from "./service-routes.ts"
import { createAuthenticator } from "./sign-in/authenticator.ts"
import { makeFirstKey } from "./sign-in/bootstrap.ts"
import { KeyUse } from "./sign-in/key-use.ts"
import { sessionRoutes, signInPath } from "./sign-in/session-routes.ts"
import { Sessions } from "./sign-in/sessions.ts"
import { teamRoutes } from "./team-routes.ts"

export interface PlatformDependencies {
  database: CatalogDatabase
  traces: TraceStore
  blobs: BlobStore
  backups: Backups
  threads: ThreadPool
  /** The data folder's secret. It signs addresses and cookies. */
  secret: Buffer
  limits: Limits
  maximumFileBytes: number
  rates: RequestRates
  refusedRequests: RefusedRequests
  metrics: MetricSources
  /** Anybody may read them. */
  metricsAreOpen: boolean
  projectDeleted: () => void
  log: Log
}

/** Address, key and sign-in link that a person needs at the first start; shown once. */
export interface Welcome {
  key: string
  /** Path of a link that signs a browser in, once and until `signInUntil`. */
  signInPath: string
  signInUntil: Date
}

export interface Platform extends Area {
  /** Whose key a request carries. */
  authenticate: Authenticate
  /** Whose session a browser's request carries. */
  sessions: SessionAuthentication
  /** Makes a key where there is none; null where there is. */
  welcome: () => Promise<Welcome | null>
}

export function openPlatform(dependencies: PlatformDependencies): Platform {
  const { database, traces, blobs, threads, secret, limits, log } = dependencies
  const keyUse = new KeyUse(database, log)
  const authenticator = createAuthenticator(database, (apiKeyId) => keyUse.saw(apiKeyId))
  const sessions = new Sessions(database, limits, authenticator.identityOfHash)
  const cookie = new SessionCookie(secret)
  const accounts = { database, invalidate: () => authenticator.invalidate() }
  const links = { links: new RunFileLinks(secret), artifactLinks: new ArtifactLinks(secret) }
  const sending = { sentFiles: new SentFiles(database), addresses: new SignedAddresses(database) }
  const runs = { database, traces, blobs, threads, ...links, ...sending, limits }
  return {
    routes: [
      ...fileRoutes({ database, blobs, maximumFileBytes: dependencies.maximumFileBytes }),
      ...serviceRoutes(database),
      ...metricsRoutes(dependencies.metrics, dependencies.metricsAreOpen),
      ...graphqlRoutes(runs),
      fileStreamRoute(runs),
      ...runFileRoutes(runs),
      ...runMetricRoutes(runs),
      ...artifactFileRoutes(runs),
      ...apiKeyRoutes(accounts),
      ...accountRoutes(accounts),
      ...teamRoutes(accounts),
      ...invitationRoutes({ ...accounts, limits }),
      ...projectRoleRoutes(accounts),
      ...auditLogRoutes(database),
      ...backupRoutes(database, dependencies.backups),
      ...quotaRoutes({ ...accounts, rates: dependencies.rates }),
      ...projectListRoutes({ database, projectDeleted: dependencies.projectDeleted }),
      ...refusedRequestRoutes(dependencies.refusedRequests),
      ...sessionRoutes({ database, sessions, cookie, limits }),
    ],
    background: [keyUse, oldAuditLogs(database, limits.audit_log_days, log)],
    authenticate: authenticator.authenticate,
    sessions: {
      secretOf: (request) => cookie.read(request),
      authenticate: (value) => sessions.authenticate(value),
    },
    welcome: async () => {
      const first = await makeFirstKey(database)
      if (first === null) return null
      const { token, expiresAt } = await sessions.makeToken(first)
      return { key: first.key, signInPath: signInPath(token), signInUntil: expiresAt }
    },
  }
}

function oldAuditLogs(database: CatalogDatabase, days: number, log: Log): DailyWork {
  const remove = async () => {
    const removed = await removeAuditLogs(database, days)
    if (removed > 0) log.info({ removed }, "entries of the record of changes were removed at the end of their time")
  }
  return new DailyWork(remove, log, "old entries of the record of changes could not be removed")
}

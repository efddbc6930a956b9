/** Key → identity, from memory where it can be. */
import type { Authenticate, Identity } from "../../http/principal.ts"
import { findAccount } from "../../storage/catalog/accounts/accounts.ts"
import { findKeyOwner, hashOfKey } from "../../storage/catalog/accounts/api-keys.ts"
import { findProjectRoles } from "../../storage/catalog/accounts/project-roles.ts"
import { teamQuota } from "../../storage/catalog/accounts/team-quotas.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"

/** How long another server may still accept a key that was revoked through this one. */
const cacheMs = 5_000
const maximumCached = 10_000

export interface Authenticator {
  authenticate: Authenticate
  /** By the hash of a key, as a session knows it. */
  identityOfHash: Authenticate
  /** Forgets what it knows; called after every change of keys, users or teams. */
  invalidate: () => void
}

/** `onUse` hears of each key that is let in. */
export function createAuthenticator(
  database: CatalogDatabase,
  onUse: (apiKeyId: string) => void,
  now: () => number = Date.now,
): Authenticator {
  const cache = new Map<string, { identity: Identity; expires: number }>()
  let generation = 0

  function authenticate(key: string): Promise<Identity | null> {
    return identityOfHash(hashOfKey(key))
  }

  async function identityOfHash(sha256: string): Promise<Identity | null> {
    const identity = await identityOf(sha256)
    if (identity !== null) onUse(identity.apiKeyId)
    return identity
  }

  async function identityOf(sha256: string): Promise<Identity | null> {
    const known = cache.get(sha256)
    if (known !== undefined && known.expires > now()) return known.identity
    const began = generation
    const found = await readIdentity(database, sha256)
    if (found === null) return null
    const { expiresAt, identity } = found
    // A read that began before a revocation must not be remembered after it.
    if (began === generation) {
      if (cache.size >= maximumCached) cache.clear()
      cache.set(sha256, { identity, expires: Math.min(now() + cacheMs, expiresAt?.getTime() ?? Infinity) })
    }
    return identity
  }

  function invalidate(): void {
    generation += 1
    cache.clear()
  }

  return { authenticate, identityOfHash, invalidate }
}

async function readIdentity(
  database: CatalogDatabase,
  sha256: string,
): Promise<{ identity: Identity; expiresAt: Date | null } | null> {
  const owner = await findKeyOwner(database, sha256)
  if (owner === null) return null
  const account = await findAccount(database, owner.userId)
  if (account === null) return null
  const { userId, username, isAdmin, defaultEntity, entities } = account
  const requestsPerMinute = await teamQuota(database, defaultEntity.id, "requests_per_minute")
  const projectRoles = await findProjectRoles(database, userId)
  const { apiKeyId, scope } = owner
  const of = { userId, username, isAdmin, defaultEntity, entities }
  const identity = { ...of, projectRoles, apiKeyId, scope, requestsPerMinute }
  return { identity, expiresAt: owner.expiresAt }
}

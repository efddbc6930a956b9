/** Key → principal, from memory where it can be. */
import type { Authenticate, Principal } from "../http/principal.ts"
import { findAccount } from "../storage/catalog/accounts.ts"
import { findKeyOwner, hashOfKey } from "../storage/catalog/api-keys.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"

/** How long another server may still accept a key that was revoked through this one. */
const cacheMs = 5_000
const maximumCached = 10_000

export interface Authenticator {
  authenticate: Authenticate
  /** Forgets what it knows; called after every change of keys, users or teams. */
  invalidate: () => void
}

export function createAuthenticator(database: CatalogDatabase, now: () => number = Date.now): Authenticator {
  const cache = new Map<string, { principal: Principal; expires: number }>()
  let generation = 0

  async function authenticate(key: string): Promise<Principal | null> {
    const sha256 = hashOfKey(key)
    const known = cache.get(sha256)
    if (known !== undefined && known.expires > now()) return known.principal
    const began = generation
    const principal = await readPrincipal(database, sha256)
    // A read that began before a revocation must not be remembered after it.
    if (principal !== null && began === generation) {
      if (cache.size >= maximumCached) cache.clear()
      cache.set(sha256, { principal, expires: now() + cacheMs })
    }
    return principal
  }

  function invalidate(): void {
    generation += 1
    cache.clear()
  }

  return { authenticate, invalidate }
}

async function readPrincipal(database: CatalogDatabase, sha256: string): Promise<Principal | null> {
  const owner = await findKeyOwner(database, sha256)
  if (owner === null) return null
  const account = await findAccount(database, owner.userId)
  return account === null ? null : { ...account, apiKeyId: owner.apiKeyId }
}

/**
 * Signing a browser in. However somebody shows who they are, one function makes the session; passwords and single sign-on
 * would call it too. What a session may do is what its key may do, asked anew for each request.
 */
import { randomBytes } from "node:crypto"
import { HeddleError } from "../../errors.ts"
import { type Authenticate, type Identity, type Principal, unknownKey } from "../../http/principal.ts"
import type { Limits } from "../../limits.ts"
import { hashOfKey } from "../../storage/catalog/accounts/api-keys.ts"
import { audited } from "../../storage/catalog/accounts/audit-logs.ts"
import type { CatalogDatabase } from "../../storage/catalog/open-catalog.ts"
import {
  createSession,
  endSession,
  findSession,
  listSessions,
  type SessionRecord,
  type SessionTimes,
  storeSessionUse,
} from "../../storage/catalog/accounts/sessions.ts"
import { storeSignInToken, takeSignInToken } from "../../storage/catalog/accounts/sign-in-tokens.ts"
import type { Session } from "../../wire/platform/session.ts"

/** Uses closer together than this are stored once. */
const useMs = 60_000
const longestUserAgent = 300

export type SessionLimits = Pick<
  Limits,
  "session_idle_ms" | "session_total_ms" | "sessions_per_user" | "sign_in_link_ms"
>

/** A browser that signs in. */
export interface SignInRequest {
  userAgent: string
  requestId: string
}

export interface SignedIn {
  principal: Principal
  /** The cookie's value. */
  secret: string
  record: SessionRecord
}

export class Sessions {
  readonly #database: CatalogDatabase
  readonly #limits: SessionLimits
  readonly #identityOf: Authenticate
  readonly #times: SessionTimes

  /** `identityOf` finds the identity of the live key with a hash. */
  constructor(database: CatalogDatabase, limits: SessionLimits, identityOf: Authenticate) {
    this.#database = database
    this.#limits = limits
    this.#identityOf = identityOf
    this.#times = { idle: limits.session_idle_ms, total: limits.session_total_ms }
  }

  /**
   * The only place where a session begins. `secret` is the cookie's value, which is shown nowhere else.
   * @throws {HeddleError} 403 for the account of a program.
   */
  async #begin(identity: Identity, { userAgent, requestId }: SignInRequest): Promise<SignedIn> {
    if (identity.defaultEntity.role === "service_account") throw new HeddleError("forbidden", noSession)
    const principal = { ...identity, requestId, right: "manage" } as const
    const { userId, username, apiKeyId } = principal
    const secret = randomSecret()
    const session = { sha256: hashOfKey(secret), userId, apiKeyId, userAgent: userAgent.slice(0, longestUserAgent) }
    const record = await audited(this.#database, principal, async (transaction, recordEntry) => {
      const created = await createSession(transaction, session, this.#limits.sessions_per_user, this.#times)
      await recordEntry({ type: "login.succeeded", team: null, resourceId: created.id, details: { username } })
      return created
    })
    return { principal, secret, record }
  }

  /** @throws {HeddleError} 401. */
  async signInWithKey(key: string, request: SignInRequest): Promise<SignedIn> {
    const identity = await this.#identityOf(hashOfKey(key))
    if (identity === null) throw new HeddleError("invalid_api_key", unknownKey, { param: "api_key" })
    return this.#begin(identity, request)
  }

  /** @throws {HeddleError} 401. */
  async signInWithToken(token: string, request: SignInRequest): Promise<SignedIn> {
    const keySha256 = await takeSignInToken(this.#database, hashOfKey(token), this.#limits.sign_in_link_ms)
    const identity = keySha256 === null ? null : await this.#identityOf(keySha256)
    if (identity === null) throw new HeddleError("invalid_api_key", wrongToken, { param: "token" })
    return this.#begin(identity, request)
  }

  /** A token for one session with the right of the key that asks. */
  async makeToken({ userId, apiKeyId }: Pick<Principal, "userId" | "apiKeyId">) {
    const token = randomSecret()
    const { sessions_per_user: most, sign_in_link_ms: lifeMs } = this.#limits
    await storeSignInToken(this.#database, { sha256: hashOfKey(token), userId, apiKeyId }, most, lifeMs)
    return { token, expiresAt: new Date(Date.now() + lifeMs) }
  }

  /** Identity of the browser with this session cookie, or null if no live session has it. */
  async authenticate(secret: string): Promise<Identity | null> {
    const session = await findSession(this.#database, hashOfKey(secret), this.#times)
    if (session === null) return null
    if (Date.now() - session.lastUsedAt.getTime() > useMs) await storeSessionUse(this.#database, session.id)
    return this.#identityOf(session.keySha256)
  }

  find(secret: string): Promise<SessionRecord | null> {
    return findSession(this.#database, hashOfKey(secret), this.#times)
  }

  list(userId: string | null): Promise<SessionRecord[]> {
    return listSessions(this.#database, userId, this.#times)
  }

  /** false: no live session has this id, or it is not `ownerId`'s; null is every user. */
  end(id: string, ownerId: string | null, actor: Principal): Promise<boolean> {
    return audited(this.#database, actor, async (transaction, recordEntry) => {
      const ended = await endSession(transaction, id, ownerId, this.#times)
      if (ended === null) return false
      const { username } = ended
      await recordEntry({ type: "logout.succeeded", team: null, resourceId: id, details: { username } })
      return true
    })
  }

  toWire(record: SessionRecord, currentId: string | null): Session {
    const { idle, total } = this.#times
    const expires = Math.min(record.lastUsedAt.getTime() + idle, record.createdAt.getTime() + total)
    return {
      id: record.id,
      object: "session",
      username: record.username,
      user_agent: record.userAgent,
      created_at: record.createdAt.toISOString(),
      last_used_at: record.lastUsedAt.toISOString(),
      expires_at: new Date(expires).toISOString(),
      is_current: record.id === currentId,
    }
  }
}

/** 256 bits. */
function randomSecret(): string {
  return randomBytes(32).toString("base64url")
}

const noSession = "this key is a service account's, which is for programs; sign in with a key of your own"
const wrongToken =
  "this sign-in link was used already, is too old, gave way to newer ones, or its key was revoked; " +
  "sign in with an API key, or have a new link made"

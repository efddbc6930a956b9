/** Row types of sessions and sign-in links. */
import type { Generated } from "kysely"
import type { Timestamp } from "../column-types.ts"

export interface SessionTable {
  id: Generated<string>
  /** SHA-256 of the cookie's value, hex. */
  sha256: string
  user_id: string
  /** The key that was signed in with: the session ends when the key does. */
  api_key_id: string
  user_agent: string
  created_at: Timestamp
  last_used_at: Timestamp
}

export interface SignInTokenTable {
  sha256: string
  user_id: string
  api_key_id: string
  created_at: Timestamp
}

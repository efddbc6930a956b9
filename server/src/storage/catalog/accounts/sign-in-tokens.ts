/** Tokens of sign-in links: each is good for one session. */
import type { CatalogDatabase } from "../open-catalog.ts"

export interface SignInToken {
  sha256: string
  userId: string
  apiKeyId: string
}

export async function storeSignInToken(database: CatalogDatabase, token: SignInToken): Promise<void> {
  const { sha256, userId, apiKeyId } = token
  await database.insertInto("sign_in_tokens").values({ sha256, user_id: userId, api_key_id: apiKeyId }).execute()
}

/**
 * The hash of the key that it was made with; from now on the token is worth nothing. null: no such token, it was used, or
 * it is older than `lifeMs`. Of two requests with the same token one gets null.
 */
export async function takeSignInToken(
  database: CatalogDatabase,
  sha256: string,
  lifeMs: number,
): Promise<string | null> {
  const oldest = new Date(Date.now() - lifeMs)
  const row = await database
    .updateTable("sign_in_tokens")
    .set({ used_at: new Date() })
    .where("sha256", "=", sha256)
    .where("used_at", "is", null)
    .where("created_at", ">", oldest)
    .returning("api_key_id")
    .executeTakeFirst()
  if (row === undefined) return null
  const key = await database
    .selectFrom("api_keys")
    .select("sha256")
    .where("id", "=", row.api_key_id)
    .executeTakeFirstOrThrow()
  await database.deleteFrom("sign_in_tokens").where("created_at", "<", oldest).execute()
  return key.sha256
}

/** Tokens of sign-in links: each is good for one session. */
import { inTransaction } from "../in-transaction.ts"
import type { CatalogDatabase } from "../open-catalog.ts"

export interface SignInToken {
  sha256: string
  userId: string
  apiKeyId: string
}

/** Stores it, and removes what is older than `lifeMs`, and the user's oldest, so that there are about `most` of the user at the most. */
export function storeSignInToken(
  database: CatalogDatabase,
  { sha256, userId, apiKeyId }: SignInToken,
  most: number,
  lifeMs: number,
): Promise<void> {
  return inTransaction(database, async (transaction) => {
    await transaction.insertInto("sign_in_tokens").values({ sha256, user_id: userId, api_key_id: apiKeyId }).execute()
    const kept = transaction
      .selectFrom("sign_in_tokens")
      .select("sha256")
      .where("user_id", "=", userId)
      .where("sha256", "!=", sha256)
      .orderBy("created_at", "desc")
      .limit(most - 1)
    await transaction
      .deleteFrom("sign_in_tokens")
      .where("sha256", "!=", sha256)
      .where((eb) =>
        eb.or([
          eb("created_at", "<", new Date(Date.now() - lifeMs)),
          eb.and([eb("user_id", "=", userId), eb("sha256", "not in", kept)]),
        ]),
      )
      .execute()
  })
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
  const row = await database
    .deleteFrom("sign_in_tokens")
    .where("sha256", "=", sha256)
    .where("created_at", ">", new Date(Date.now() - lifeMs))
    .returning("api_key_id")
    .executeTakeFirst()
  if (row === undefined) return null
  const key = await database
    .selectFrom("api_keys")
    .select("sha256")
    .where("id", "=", row.api_key_id)
    .executeTakeFirstOrThrow()
  return key.sha256
}

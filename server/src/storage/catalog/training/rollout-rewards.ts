/** Rewards of rollouts: the newest counts, earlier ones are kept. */
import { sql } from "kysely"
import { HeddleError } from "../../../errors.ts"
import { inTransaction } from "../in-transaction.ts"
import { isoText } from "../iso-time.ts"
import type { CatalogDatabase } from "../open-catalog.ts"

export interface NewReward {
  /** With it the same reward may be sent again. */
  key: string | null
  reward: number
  metrics: Readonly<Record<string, number>>
  reason: string | null
  userId: string
}

export interface RewardRecord extends NewReward {
  id: string
  username: string
  createdAt: string
}

const mostRewards = 1_000

/**
 * Stores a reward and makes it the one that counts. What was stored under the same key, or is the newest and the same, is
 * answered as it is. null: the rollout was deleted.
 * @throws {HeddleError} `conflict` when the key has another reward, or the rollout as many as it may have.
 */
export async function addReward(
  database: CatalogDatabase,
  rollout: string,
  given: NewReward,
): Promise<RewardRecord | null> {
  return inTransaction(database, async (transaction) => {
    const row = await transaction
      .selectFrom("rollouts")
      .select("id")
      .where("id", "=", rollout)
      .where("deleted_at", "is", null)
      .forUpdate()
      .executeTakeFirst()
    if (row === undefined) return null
    const earlier = await listRewards(transaction, rollout)
    const before = given.key === null ? earlier.at(-1) : earlier.find(({ key }) => key === given.key)
    if (before !== undefined && isSame(before, given)) return before
    if (given.key !== null && before !== undefined) throw otherReward(before)
    if (earlier.length >= mostRewards) {
      throw new HeddleError("conflict", `the rollout has ${mostRewards} rewards, the most that are kept of one`)
    }
    await transaction
      .insertInto("rollout_rewards")
      .values({
        rollout,
        key: given.key,
        reward: given.reward,
        metrics: JSON.stringify(given.metrics),
        reason: given.reason,
        user_id: given.userId,
      })
      .execute()
    await transaction
      .updateTable("rollouts")
      .set({ reward: given.reward, rewarded_at: sql<Date>`now()` })
      .where("id", "=", rollout)
      .execute()
    return (await listRewards(transaction, rollout)).at(-1) ?? null
  })
}

function isSame(before: RewardRecord, given: NewReward): boolean {
  const entries = ({ metrics }: NewReward) =>
    JSON.stringify(Object.entries(metrics).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  return (
    before.key === given.key &&
    before.reward === given.reward &&
    before.reason === given.reason &&
    before.userId === given.userId &&
    entries(before) === entries(given)
  )
}

function otherReward({ key, reward }: RewardRecord): HeddleError {
  const message = `the key ${JSON.stringify(key)} has given the reward ${reward} already, and not this one; send another key`
  return new HeddleError("conflict", message, { param: "key" })
}

/** The newest last. */
export async function listRewards(database: CatalogDatabase, rollout: string): Promise<RewardRecord[]> {
  const rows = await database
    .selectFrom("rollout_rewards as w")
    .innerJoin("users as u", "u.id", "w.user_id")
    .select([
      "w.id",
      "w.key",
      "w.reward",
      "w.metrics",
      "w.reason",
      "w.user_id as userId",
      "u.username",
      isoText<string>("w.created_at").as("createdAt"),
    ])
    .where("w.rollout", "=", rollout)
    .orderBy("w.sequence")
    .execute()
  return rows
}

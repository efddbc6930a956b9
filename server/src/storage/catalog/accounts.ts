/** People, teams and who belongs to which. An entity is a team's or a person's namespace. */
import type { CatalogDatabase } from "./open-catalog.ts"

export interface Account {
  userId: string
  username: string
  isAdmin: boolean
  defaultEntity: { id: string; name: string }
  entities: { id: string; name: string }[]
}

/** The entity of this name, made when there is none. */
export async function ensureEntity(database: CatalogDatabase, name: string): Promise<string> {
  await database
    .insertInto("entities")
    .values({ name })
    .onConflict((on) => on.column("name").doNothing())
    .execute()
  const row = await database.selectFrom("entities").select("id").where("name", "=", name).executeTakeFirstOrThrow()
  return row.id
}

/** null: the name is taken. */
export async function createEntity(database: CatalogDatabase, name: string): Promise<string | null> {
  const row = await database
    .insertInto("entities")
    .values({ name })
    .onConflict((on) => on.column("name").doNothing())
    .returning("id")
    .executeTakeFirst()
  return row?.id ?? null
}

/** Makes the administrator, or moves its default entity. Repeatable. */
export async function ensureAdmin(database: CatalogDatabase, username: string, entityName: string): Promise<string> {
  return database.transaction().execute(async (transaction) => {
    const entityId = await ensureEntity(transaction, entityName)
    const user = await transaction
      .insertInto("users")
      .values({ username, default_entity_id: entityId, is_admin: true })
      .onConflict((on) => on.column("username").doUpdateSet({ default_entity_id: entityId, is_admin: true }))
      .returning("id")
      .executeTakeFirstOrThrow()
    await addMember(transaction, user.id, entityId)
    return user.id
  })
}

export interface NewUser {
  username: string
  isAdmin: boolean
  /** Teams besides the user's own entity; each must exist. */
  entityIds: readonly string[]
}

/** A user with an entity of the same name as default. null: the username or the entity's name is taken. */
export async function createUser(database: CatalogDatabase, user: NewUser): Promise<string | null> {
  return database.transaction().execute(async (transaction) => {
    const taken = await transaction
      .selectFrom("users")
      .select("id")
      .where("username", "=", user.username)
      .executeTakeFirst()
    if (taken !== undefined) return null
    const ownEntityId = await createEntity(transaction, user.username)
    if (ownEntityId === null) return null
    const { id } = await transaction
      .insertInto("users")
      .values({ username: user.username, default_entity_id: ownEntityId, is_admin: user.isAdmin })
      .returning("id")
      .executeTakeFirstOrThrow()
    for (const entityId of [ownEntityId, ...user.entityIds]) await addMember(transaction, id, entityId)
    return id
  })
}

export async function addMember(database: CatalogDatabase, userId: string, entityId: string): Promise<void> {
  await database
    .insertInto("memberships")
    .values({ user_id: userId, entity_id: entityId })
    .onConflict((on) => on.columns(["user_id", "entity_id"]).doNothing())
    .execute()
}

export async function removeMember(database: CatalogDatabase, userId: string, entityId: string): Promise<void> {
  await database.deleteFrom("memberships").where("user_id", "=", userId).where("entity_id", "=", entityId).execute()
}

export async function findEntity(database: CatalogDatabase, name: string): Promise<string | null> {
  const row = await database.selectFrom("entities").select("id").where("name", "=", name).executeTakeFirst()
  return row?.id ?? null
}

export async function findUserByName(database: CatalogDatabase, username: string): Promise<Account | null> {
  const row = await database.selectFrom("users").select("id").where("username", "=", username).executeTakeFirst()
  return row === undefined ? null : findAccount(database, row.id)
}

export async function listAccounts(database: CatalogDatabase): Promise<Account[]> {
  const rows = await database.selectFrom("users").select("id").orderBy("username").execute()
  const accounts = await Promise.all(rows.map((row) => findAccount(database, row.id)))
  return accounts.filter((account) => account !== null)
}

export async function findAccount(database: CatalogDatabase, userId: string): Promise<Account | null> {
  const user = await database.selectFrom("users").selectAll().where("id", "=", userId).executeTakeFirst()
  if (user === undefined) return null
  const entities = await database
    .selectFrom("memberships")
    .innerJoin("entities", "entities.id", "memberships.entity_id")
    .select(["entities.id", "entities.name"])
    .where("memberships.user_id", "=", userId)
    .orderBy("entities.name")
    .execute()
  const defaultEntity = entities.find((entity) => entity.id === user.default_entity_id)
  if (defaultEntity === undefined) throw new Error(`user ${user.username} is no member of its default entity`)
  return { userId, username: user.username, isAdmin: user.is_admin, defaultEntity, entities }
}

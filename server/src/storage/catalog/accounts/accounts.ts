/** People, teams and who belongs to which. An entity is a team's or a person's namespace. */
import type { Selectable } from "kysely"
import { inTransaction } from "../in-transaction.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import type { Role } from "../../../wire/platform/access.ts"
import type { UserTable } from "../schema.ts"

export interface Account {
  userId: string
  username: string
  isAdmin: boolean
  isDisabled: boolean
  isServiceAccount: boolean
  defaultEntity: AccountMembership
  entities: AccountMembership[]
}

export interface AccountMembership {
  id: string
  name: string
  role: Role
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
  return inTransaction(database, async (transaction) => {
    const entityId = await ensureEntity(transaction, entityName)
    const user = await transaction
      .insertInto("users")
      .values({ username, default_entity_id: entityId, is_admin: true })
      .onConflict((on) => on.column("username").doUpdateSet({ default_entity_id: entityId, is_admin: true }))
      .returning("id")
      .executeTakeFirstOrThrow()
    await addMember(transaction, user.id, entityId, "admin")
    await setTeamRole(transaction, user.id, entityId, "admin")
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
  return inTransaction(database, async (transaction) => {
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
    await addMember(transaction, id, ownEntityId, "admin")
    for (const entityId of user.entityIds) await addMember(transaction, id, entityId, "member")
    return id
  })
}

/** The account of a program, in this team alone. null: the username is taken. */
export async function createServiceAccount(
  database: CatalogDatabase,
  username: string,
  entityId: string,
): Promise<string | null> {
  const row = await database
    .insertInto("users")
    .values({ username, default_entity_id: entityId, is_admin: false, is_service_account: true })
    .onConflict((on) => on.column("username").doNothing())
    .returning("id")
    .executeTakeFirst()
  if (row === undefined) return null
  await addMember(database, row.id, entityId, "service_account")
  return row.id
}

/** false: the user was a member already. */
export async function addMember(
  database: CatalogDatabase,
  userId: string,
  entityId: string,
  role: Role,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await database
    .insertInto("memberships")
    .values({ user_id: userId, entity_id: entityId, role })
    .onConflict((on) => on.columns(["user_id", "entity_id"]).doNothing())
    .executeTakeFirst()
  return Number(numInsertedOrUpdatedRows) > 0
}

/** false: the user is no member, or has the role already. */
export async function setTeamRole(
  database: CatalogDatabase,
  userId: string,
  entityId: string,
  role: Role,
): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("memberships")
    .set({ role })
    .where("user_id", "=", userId)
    .where("entity_id", "=", entityId)
    .where("role", "!=", role)
    .executeTakeFirst()
  return numUpdatedRows > 0
}

/** Removes a member, with the roles that they have in projects of the team. false: the user was no member. */
export async function removeMember(database: CatalogDatabase, userId: string, entityId: string): Promise<boolean> {
  // The membership first: who gives the member a role meanwhile is waited for, and that role goes too.
  const { numDeletedRows } = await database
    .deleteFrom("memberships")
    .where("user_id", "=", userId)
    .where("entity_id", "=", entityId)
    .executeTakeFirst()
  await database
    .deleteFrom("project_roles")
    .where("user_id", "=", userId)
    .where("project_id", "in", (query) =>
      query.selectFrom("all_projects").select("id").where("entity_id", "=", entityId),
    )
    .execute()
  return Number(numDeletedRows) > 0
}

/** false: it was so already, and nothing changed. */
export async function setDisabled(database: CatalogDatabase, userId: string, disabled: boolean): Promise<boolean> {
  const { numUpdatedRows } = await database
    .updateTable("users")
    .set({ disabled_at: disabled ? new Date() : null })
    .where("id", "=", userId)
    .where("disabled_at", disabled ? "is" : "is not", null)
    .executeTakeFirst()
  return numUpdatedRows > 0
}

/** Out of every team but the own entity, no key left, and disabled. false: it was so already, and nothing changed. */
export async function removeUser(database: CatalogDatabase, { userId, defaultEntity }: Account): Promise<boolean> {
  return inTransaction(database, async (transaction) => {
    const isDisabled = await setDisabled(transaction, userId, true)
    // The memberships first, as in {@link removeMember}.
    const left = await transaction
      .deleteFrom("memberships")
      .where("user_id", "=", userId)
      .where("entity_id", "!=", defaultEntity.id)
      .executeTakeFirst()
    await transaction.deleteFrom("project_roles").where("user_id", "=", userId).execute()
    const revoked = await transaction
      .updateTable("api_keys")
      .set({ revoked_at: new Date() })
      .where("user_id", "=", userId)
      .where("revoked_at", "is", null)
      .executeTakeFirst()
    return isDisabled || left.numDeletedRows > 0 || revoked.numUpdatedRows > 0
  })
}

/** Ids of the service accounts of these teams. */
export async function listServiceAccounts(database: CatalogDatabase, entityIds: readonly string[]): Promise<string[]> {
  if (entityIds.length === 0) return []
  const rows = await database
    .selectFrom("users")
    .select("id")
    .where("is_service_account", "=", true)
    .where("default_entity_id", "in", entityIds)
    .execute()
  return rows.map(({ id }) => id)
}

export interface TeamRecord {
  id: string
  name: string
}

/** Entities that are no user's own, by name: those with these ids, or all when `ids` is null. */
export async function listTeams(database: CatalogDatabase, ids: readonly string[] | null): Promise<TeamRecord[]> {
  const teams = database
    .selectFrom("entities")
    .select(["entities.id", "entities.name"])
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("users").select("users.id").whereRef("users.username", "=", "entities.name"))),
    )
    .orderBy("entities.name")
  if (ids === null) return teams.execute()
  return ids.length === 0 ? [] : teams.where("entities.id", "in", ids).execute()
}

export interface MemberRecord {
  userId: string
  username: string
  isDisabled: boolean
  role: Role
}

/** The members of a team, by name. */
export async function listMembers(database: CatalogDatabase, entityId: string): Promise<MemberRecord[]> {
  const rows = await database
    .selectFrom("memberships")
    .innerJoin("users", "users.id", "memberships.user_id")
    .select(["users.id", "users.username", "users.disabled_at", "memberships.role"])
    .where("memberships.entity_id", "=", entityId)
    .orderBy("users.username")
    .execute()
  return rows.map(({ id, username, disabled_at, role }) => ({
    userId: id,
    username,
    isDisabled: disabled_at !== null,
    role,
  }))
}

export async function findEntity(database: CatalogDatabase, name: string): Promise<string | null> {
  return (await findEntities(database, [name])).get(name) ?? null
}

/** Ids by name of those that there are. */
export async function findEntities(database: CatalogDatabase, names: readonly string[]): Promise<Map<string, string>> {
  if (names.length === 0) return new Map()
  const rows = await database.selectFrom("entities").select(["id", "name"]).where("name", "in", names).execute()
  return new Map(rows.map(({ id, name }) => [name, id]))
}

export async function findUserByName(database: CatalogDatabase, username: string): Promise<Account | null> {
  const row = await database.selectFrom("users").select("id").where("username", "=", username).executeTakeFirst()
  return row === undefined ? null : findAccount(database, row.id)
}

/** Whether no start has made its administrator in it yet. */
export async function isUnused(database: CatalogDatabase): Promise<boolean> {
  return (await database.selectFrom("users").select("id").limit(1).executeTakeFirst()) === undefined
}

export async function listAccounts(database: CatalogDatabase): Promise<Account[]> {
  const users = await database.selectFrom("users").selectAll().orderBy("username").execute()
  const memberships = Map.groupBy(await membershipsQuery(database).execute(), (membership) => membership.user_id)
  return users.map((user) => toAccount(user, memberships.get(user.id) ?? []))
}

export async function findAccount(database: CatalogDatabase, userId: string): Promise<Account | null> {
  const user = await database.selectFrom("users").selectAll().where("id", "=", userId).executeTakeFirst()
  if (user === undefined) return null
  return toAccount(user, await membershipsQuery(database).where("memberships.user_id", "=", userId).execute())
}

function membershipsQuery(database: CatalogDatabase) {
  return database
    .selectFrom("memberships")
    .innerJoin("entities", "entities.id", "memberships.entity_id")
    .select(["memberships.user_id", "memberships.role", "entities.id", "entities.name"])
    .orderBy("entities.name")
}

function toAccount(
  {
    id: userId,
    username,
    is_admin: isAdmin,
    is_service_account,
    disabled_at,
    default_entity_id,
  }: Selectable<UserTable>,
  memberships: readonly AccountMembership[],
): Account {
  const entities = memberships.map(({ id, name, role }) => ({ id, name, role }))
  const defaultEntity = entities.find((entity) => entity.id === default_entity_id)
  if (defaultEntity === undefined) throw new Error(`user ${username} is no member of its default entity`)
  return {
    userId,
    username,
    isAdmin,
    isDisabled: disabled_at !== null,
    isServiceAccount: is_service_account,
    defaultEntity,
    entities,
  }
}

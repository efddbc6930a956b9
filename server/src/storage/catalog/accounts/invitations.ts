/** Invitations into teams; the token of each is good for one person. */
import { sql } from "kysely"
import type { MemberRole } from "../../../wire/platform/access.ts"
import { isUuid } from "../identifiers.ts"
import type { CatalogDatabase } from "../open-catalog.ts"

export interface InvitationRecord {
  id: string
  team: { id: string; name: string }
  role: MemberRole
  invitedBy: string
  /** Whether somebody who has no user may make one with it. Into a user's own entity only an administrator of the server lets new users. */
  makesUsers: boolean
  createdAt: Date
  expiresAt: Date
}

export interface NewInvitation {
  sha256: string
  entityId: string
  role: MemberRole
  invitedBy: string
  expiresAt: Date
}

/** Stores it, and removes those of the team whose time is over. */
export async function createInvitation(database: CatalogDatabase, made: NewInvitation): Promise<InvitationRecord> {
  const { sha256, entityId: entity_id, role, invitedBy: invited_by, expiresAt: expires_at } = made
  await database
    .deleteFrom("invitations")
    .where("entity_id", "=", entity_id)
    .where("expires_at", "<=", new Date())
    .execute()
  const { id } = await database
    .insertInto("invitations")
    .values({ sha256, entity_id, role, invited_by, expires_at })
    .returning("id")
    .executeTakeFirstOrThrow()
  return toRecord(await allInvitations(database).where("invitations.id", "=", id).executeTakeFirstOrThrow())
}

/** Those of a team that may still be accepted, the newest first. */
export async function listInvitations(database: CatalogDatabase, entityId: string): Promise<InvitationRecord[]> {
  const rows = await openInvitations(database)
    .where("invitations.entity_id", "=", entityId)
    .orderBy("invitations.created_at", "desc")
    .orderBy("invitations.id")
    .execute()
  return rows.map(toRecord)
}

/** The one that ended now. null: the team has no open one of this id. */
export async function revokeInvitation(
  database: CatalogDatabase,
  entityId: string,
  id: string,
): Promise<InvitationRecord | null> {
  if (!isUuid(id)) return null
  const open = openInvitations(database).where("invitations.id", "=", id).where("invitations.entity_id", "=", entityId)
  return endInvitation(database, await open.executeTakeFirst())
}

/** The one that was accepted now. null: there is none of this token, or somebody accepted or ended it. */
export async function takeInvitation(database: CatalogDatabase, sha256: string): Promise<InvitationRecord | null> {
  const open = openInvitations(database).where("invitations.sha256", "=", sha256)
  return endInvitation(database, await open.executeTakeFirst())
}

/** Ends an invitation; if two requests race, one of them gets null. */
async function endInvitation(
  database: CatalogDatabase,
  row: InvitationRow | undefined,
): Promise<InvitationRecord | null> {
  if (row === undefined) return null
  const { numDeletedRows } = await database.deleteFrom("invitations").where("id", "=", row.id).executeTakeFirst()
  return numDeletedRows > 0 ? toRecord(row) : null
}

interface InvitationRow {
  id: string
  entity_id: string
  team: string
  role: MemberRole
  username: string
  makes_users: boolean
  created_at: Date
  expires_at: Date
}

/**
 * Not past their end, of somebody who may still decide about the team: who was put out of it lets nobody in, and does not
 * come back by an invitation of their own.
 */
function openInvitations(database: CatalogDatabase) {
  return allInvitations(database)
    .where("invitations.expires_at", ">", new Date())
    .where("users.disabled_at", "is", null)
    .where((eb) =>
      eb.or([
        eb("users.is_admin", "=", true),
        eb.exists(
          eb
            .selectFrom("memberships")
            .select("memberships.user_id")
            .whereRef("memberships.user_id", "=", "invitations.invited_by")
            .whereRef("memberships.entity_id", "=", "invitations.entity_id")
            .where("memberships.role", "=", "admin"),
        ),
      ]),
    )
}

function allInvitations(database: CatalogDatabase) {
  return database
    .selectFrom("invitations")
    .innerJoin("entities", "entities.id", "invitations.entity_id")
    .innerJoin("users", "users.id", "invitations.invited_by")
    .select(["invitations.id", "invitations.entity_id", "entities.name as team", "invitations.role"])
    .select(["users.username", "invitations.created_at", "invitations.expires_at"])
    .select(
      sql<boolean>`users.is_admin or not exists (select 1 from users own where own.username = entities.name)`.as(
        "makes_users",
      ),
    )
}

function toRecord(row: InvitationRow): InvitationRecord {
  const { id, entity_id, team, role, username, makes_users, created_at, expires_at } = row
  return {
    id,
    team: { id: entity_id, name: team },
    role,
    invitedBy: username,
    makesUsers: makes_users,
    createdAt: created_at,
    expiresAt: expires_at,
  }
}

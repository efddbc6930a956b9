/** Inviting somebody into a team by a link that works once, and taking such an invitation. */
import { randomBytes } from "node:crypto"
import { HeddleError, invalid } from "../errors.ts"
import { type Route, route } from "../http/route.ts"
import { addMember, createUser, findAccount } from "../storage/catalog/accounts/accounts.ts"
import { hashOfKey, storeApiKey } from "../storage/catalog/accounts/api-keys.ts"
import { audited, type RecordEntry } from "../storage/catalog/accounts/audit-logs.ts"
import {
  createInvitation,
  type InvitationRecord,
  listInvitations,
  revokeInvitation,
  takeInvitation,
} from "../storage/catalog/accounts/invitations.ts"
import type { CatalogDatabase } from "../storage/catalog/open-catalog.ts"
import { deleted, listOf, team, teamParams } from "../wire/platform/account.ts"
import {
  acceptInvitationBody,
  createdInvitation,
  createInvitationBody,
  type Invitation,
  invitation,
  invitationParams,
  signedUp,
  signUpBody,
} from "../wire/platform/invitation.ts"
import { readUser } from "./account-routes.ts"
import { type AccountDependencies, endOf, toWireKey } from "./api-key-routes.ts"
import { FailedSignIns, mostSignInBytes } from "./sign-in/failed-sign-ins.ts"
import { makeKey } from "./sign-in/key-format.ts"
import { managedTeam } from "./visible-team.ts"

interface InvitationDependencies extends AccountDependencies {
  limits: { sign_in_failures_per_minute: number }
}

const shared = { dialect: "openai", tag: "Accounts" } as const
const ofTeam = "/v1/organization/teams/:team/invitations"
/** Limit on the open invitations of one team. */
const mostOpen = 100
const weekMs = 7 * 24 * 60 * 60 * 1000

export function invitationRoutes({ database, invalidate, limits }: InvitationDependencies): Route[] {
  const failures = new FailedSignIns(limits.sign_in_failures_per_minute)
  return [
    route({
      ...shared,
      method: "POST",
      path: ofTeam,
      access: { right: "manage", of: "team path.team" },
      summary: "Invite somebody into a team; the token of the answer lets one person in",
      schemas: { params: teamParams, body: createInvitationBody },
      response: createdInvitation,
      handle: async ({ params, body, principal }) => {
        const { id: entityId } = await managedTeam(database, principal, params.team)
        const expiresAt = endOf(body.expires_at ?? null) ?? new Date(Date.now() + weekMs)
        const token = randomBytes(32).toString("base64url")
        const made = { sha256: hashOfKey(token), entityId, role: body.role, invitedBy: principal.userId, expiresAt }
        const record = await audited(database, principal, async (transaction, entry) => {
          if ((await listInvitations(transaction, entityId)).length >= mostOpen) {
            const message = `"${params.team}" has ${mostOpen} open invitations already; end those that nobody will accept`
            throw new HeddleError("conflict", message)
          }
          const stored = await createInvitation(transaction, made)
          await entry({ type: "invitation.created", ...entryOf(stored), details: { role: stored.role } })
          return stored
        })
        return { ...toWireInvitation(record), token }
      },
    }),
    route({
      ...shared,
      method: "GET",
      path: ofTeam,
      access: { right: "manage", of: "team path.team" },
      summary: "List the invitations into a team that nobody has accepted yet",
      schemas: { params: teamParams },
      response: listOf(invitation),
      handle: async ({ params, principal }) => {
        const { id } = await managedTeam(database, principal, params.team)
        return { object: "list", data: (await listInvitations(database, id)).map(toWireInvitation) }
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      path: `${ofTeam}/:invitation_id`,
      access: { right: "manage", of: "team path.team" },
      summary: "End an invitation before anybody accepts it",
      schemas: { params: invitationParams },
      response: deleted,
      handle: async ({ params, principal }) => {
        const { id: entityId } = await managedTeam(database, principal, params.team)
        const id = params.invitation_id
        await audited(database, principal, async (transaction, entry) => {
          const ended = await revokeInvitation(transaction, entityId, id)
          if (ended === null) throw new HeddleError("not_found", `no open invitation "${id}" into this team`)
          await entry({ type: "invitation.deleted", ...entryOf(ended), details: { role: ended.role } })
        })
        return { id, deleted: true }
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/v1/organization/invitations/accept",
      access: { right: "manage", of: "account" },
      summary: "Join the team that an invitation is for",
      schemas: { body: acceptInvitationBody },
      response: team,
      handle: async ({ body, principal, request }) => {
        if (principal.defaultEntity.role === "service_account") {
          throw new HeddleError(
            "forbidden",
            "a service account is in its own team alone; accept with a key of your own",
          )
        }
        const accepted = await failures.attempt(request.ip, () =>
          audited(database, principal, (transaction, entry) =>
            accept(transaction, entry, body.token, async () => principal),
          ),
        )
        invalidate()
        const account = await findAccount(database, principal.userId)
        const own = account?.entities.find(({ id }) => id === accepted.team.id)
        return { ...accepted.team, object: "organization.team", role: own?.role ?? accepted.role } as const
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/v1/sign-up",
      access: "public",
      maximumBodyBytes: mostSignInBytes,
      summary: "Make a user of one's own from an invitation, in its team and with a key",
      schemas: { body: signUpBody },
      refusals: ["401", "429"],
      response: signedUp,
      handle: async ({ body, request }) => {
        const { username } = body
        const key = makeKey()
        const made = await failures.attempt(request.ip, () =>
          audited(database, null, async (transaction, entry) => {
            let id = ""
            await accept(transaction, entry, body.token, async ({ makesUsers, team: into }) => {
              if (!makesUsers) throw new HeddleError("forbidden", noNewUsers(into.name))
              id = await newUser(transaction, entry, username)
              return { userId: id, username }
            })
            const stored = await storeApiKey(transaction, { userId: id, name: "sign-up", key })
            const details = { name: stored.name, username }
            await entry({ type: "api_key.created", team: null, resourceId: stored.id, details })
            return stored
          }),
        )
        const user = await readUser(database, made.userId)
        return { object: "organization.sign_up", user, api_key: { ...toWireKey(made), value: key } } as const
      },
    }),
  ]
}

/** Lets `who` into the team of the token; somebody who is in it already keeps the role. @throws {HeddleError} 401, nothing was changed. */
async function accept(
  transaction: CatalogDatabase,
  entry: RecordEntry,
  token: string,
  who: (taken: InvitationRecord) => Promise<{ userId: string; username: string }>,
): Promise<InvitationRecord> {
  const taken = await takeInvitation(transaction, hashOfKey(token))
  if (taken === null) throw new HeddleError("invalid_api_key", noInvitation, { param: "token" })
  const { userId, username } = await who(taken)
  const { team: into, role } = taken
  await entry({ type: "invitation.accepted", ...entryOf(taken), details: { role, username } })
  if (await addMember(transaction, userId, into.id, role)) {
    await entry({ type: "team.member_added", team: into.name, resourceId: userId, details: { username, role } })
  }
  return taken
}

async function newUser(transaction: CatalogDatabase, entry: RecordEntry, username: string): Promise<string> {
  const id = await createUser(transaction, { username, isAdmin: false, entityIds: [] })
  if (id === null)
    throw invalid(["body", "username"], `a user or team "${username}" exists already; choose another name`)
  await entry({ type: "user.added", team: null, resourceId: id, details: { username, is_admin: false, teams: [] } })
  return id
}

const noInvitation =
  "this invitation was accepted already, has ended, or was never made; ask an administrator of the team for another"

/** Else whoever has one key would have users, each with quotas and turns of its own, as many as they like. */
const noNewUsers = (entity: string) =>
  `"${entity}" is the own entity of a user, and who joins it must be a user already: accept the invitation with a key, ` +
  "or ask an administrator of the server to make you a user"

const entryOf = ({ id, team: { name } }: InvitationRecord) => ({ team: name, resourceId: id })

function toWireInvitation({ id, team: { name }, role, invitedBy, createdAt, expiresAt }: InvitationRecord): Invitation {
  return {
    id,
    object: "organization.invitation",
    team: name,
    role,
    invited_by: invitedBy,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
  }
}

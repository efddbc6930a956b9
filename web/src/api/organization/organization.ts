/** Users and teams: `/v1/organization/users`, `/v1/organization/teams`. */
import type { MemberRole } from "@heddle/server/wire/platform/access.ts"
import type { Team, TeamMember, User } from "@heddle/server/wire/platform/account.ts"
import type { createdInvitation, Invitation, signedUp } from "@heddle/server/wire/platform/invitation.ts"
import type { ProjectRole } from "@heddle/server/wire/platform/project-role.ts"
import { useMutation, useQueries, useQuery } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { type Method, sendForJson } from "../client.ts"
import { jsonQuery, queryClient } from "../queries.ts"
import { sessionQuery } from "../session.ts"

const usersPath = "/v1/organization/users"
const teamsPath = "/v1/organization/teams"
const membersPath = (team: string) => `${teamsPath}/${encodeURIComponent(team)}/members`
const memberPath = ({ team, username }: Membership) => `${membersPath(team)}/${encodeURIComponent(username)}`

/** For administrators. `enabled: false`: whoever is signed in is none. */
export function useUsers({ enabled }: { enabled: boolean }) {
  return useQuery({ ...jsonQuery<{ data: User[] }>("GET", usersPath), enabled })
}

/** One's own, of an administrator all; not the entities that users have by their own name. */
export function useTeams() {
  return useQuery(jsonQuery<{ data: Team[] }>("GET", teamsPath))
}

export function useMembers(team: string, { enabled = true }: { enabled?: boolean } = {}) {
  return useQuery({ ...jsonQuery<{ data: TeamMember[] }>("GET", membersPath(team)), enabled })
}

interface NewUser {
  username: string
  is_admin: boolean
  teams: readonly string[]
}

export function useCreateUser() {
  return useOrganizationChange<NewUser>((body) => ({ method: "POST", path: usersPath, body }))
}

export function useDisableUser() {
  return useOrganizationChange<{ username: string; disabled: boolean }>(({ username, disabled }) => ({
    method: "POST",
    path: `${usersPath}/${encodeURIComponent(username)}`,
    body: { disabled },
  }))
}

/** Out of every team, without a key, disabled. */
export function useRemoveUser() {
  return useOrganizationChange<string>((username) => ({
    method: "DELETE",
    path: `${usersPath}/${encodeURIComponent(username)}`,
  }))
}

export function useCreateTeam() {
  return useOrganizationChange<{ name: string }>((body) => ({ method: "POST", path: teamsPath, body }))
}

interface Membership {
  team: string
  username: string
}

export function useAddMember() {
  return useOrganizationChange<Membership>(({ team, username }) => ({
    method: "POST",
    path: membersPath(team),
    body: { username },
  }))
}

export function useRemoveMember() {
  return useOrganizationChange<Membership>((membership) => ({ method: "DELETE", path: memberPath(membership) }))
}

export function useChangeRole() {
  return useOrganizationChange<Membership & { role: MemberRole }>(({ role, ...membership }) => ({
    method: "POST",
    path: memberPath(membership),
    body: { role },
  }))
}

interface InProject {
  entity: string
  project: string
}

const rolesPath = ({ entity, project }: InProject) =>
  `/v1/projects/${encodeURIComponent(entity)}/${encodeURIComponent(project)}/roles`

/** Roles of the members in one project. A project without any data has none. */
export function useProjectRoles(of: InProject) {
  return useQuery(jsonQuery<{ data: ProjectRole[] }>("GET", rolesPath(of)))
}

/** `role: null`: what the member is in the team counts again. */
export function useChangeProjectRole() {
  return useOrganizationChange<InProject & { username: string; role: MemberRole | null }>(
    ({ username, role, ...project }) => {
      const path = `${rolesPath(project)}/${encodeURIComponent(username)}`
      return role === null ? { method: "DELETE", path } : { method: "PUT", path, body: { role } }
    },
  )
}

const invitationsPath = (team: string) => `${teamsPath}/${encodeURIComponent(team)}/invitations`

/** Those that nobody has taken yet. `enabled: false`: whoever is signed in decides about nobody. */
export function useInvitations(team: string, { enabled }: { enabled: boolean }) {
  return useQuery({ ...jsonQuery<{ data: Invitation[] }>("GET", invitationsPath(team)), enabled })
}

export type CreatedInvitation = z.output<typeof createdInvitation>

/** The answer is the only place that shows the token. */
export function useInvite() {
  return useOrganizationChange<{ team: string; role: MemberRole; expires_at: string }, CreatedInvitation>(
    ({ team, ...body }) => ({ method: "POST", path: invitationsPath(team), body }),
  )
}

export function useEndInvitation() {
  return useOrganizationChange<{ team: string; id: string }>(({ team, id }) => ({
    method: "DELETE",
    path: `${invitationsPath(team)}/${encodeURIComponent(id)}`,
  }))
}

/** The account of a program, `name@team`. */
export function useCreateServiceAccount() {
  return useOrganizationChange<{ team: string; name: string }>(({ team, name }) => ({
    method: "POST",
    path: `${teamsPath}/${encodeURIComponent(team)}/service_accounts`,
    body: { name },
  }))
}

/** A new user, from an invitation; the answer is the only place that shows the key. */
export function useSignUp() {
  return useMutation<z.output<typeof signedUp>, ApiError, { token: string; username: string }>({
    mutationFn: (body) => sendForJson({ method: "POST", path: "/v1/sign-up", body }),
  })
}

/** Into the team of an invitation, with the user that one is signed in as. */
export function useAcceptInvitation() {
  return useOrganizationChange<string, Team>((token) => ({
    method: "POST",
    path: "/v1/organization/invitations/accept",
    body: { token },
  }))
}

/** Each change makes memberships be read again, with keys and the signed-in user's own teams. */
function useOrganizationChange<Given, Answer = unknown>(
  request: (given: Given) => { method: Method; path: string; body?: unknown },
) {
  return useMutation<Answer, ApiError, Given>({
    mutationFn: (given) => sendForJson(request(given)),
    onSuccess: () => {
      const [session] = sessionQuery.queryKey
      const changed = (endpoint: unknown) =>
        typeof endpoint === "string" &&
        (endpoint === session || /^GET \/v1\/(organization\/|projects\/.*\/roles$)/.test(endpoint))
      return queryClient.invalidateQueries({ predicate: ({ queryKey: [endpoint] }) => changed(endpoint) })
    },
  })
}

/** Accounts of programs in teams whose members one decides about. */
export function useProgramsOfTeams(enabled: boolean): string[] {
  const teams = useQuery({ ...jsonQuery<{ data: Team[] }>("GET", teamsPath), enabled })
  const own = (teams.data?.data ?? []).filter(({ role }) => role === "admin")
  const members = useQueries({
    queries: own.map(({ name }) => ({ ...jsonQuery<{ data: TeamMember[] }>("GET", membersPath(name)), enabled })),
  })
  return members.flatMap(({ data }) =>
    (data?.data ?? []).filter(({ role }) => role === "service_account").map(({ username }) => username),
  )
}

/** Users and teams: `/v1/organization/users`, `/v1/organization/teams`. */
import type { Team, TeamMember, User } from "@heddle/server/wire/platform/account.ts"
import { useMutation, useQuery } from "@tanstack/react-query"
import type { ApiError } from "./api-error.ts"
import { type Method, sendForJson } from "./client.ts"
import { jsonQuery, queryClient } from "./queries.ts"
import { sessionQuery } from "./session.ts"

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

export function useMembers(team: string) {
  return useQuery(jsonQuery<{ data: TeamMember[] }>("GET", membersPath(team)))
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

/** Who is in what is read again after each, keys and the signed-in user's own teams included. */
function useOrganizationChange<Given>(request: (given: Given) => { method: Method; path: string; body?: unknown }) {
  return useMutation<unknown, ApiError, Given>({
    mutationFn: (given) => sendForJson(request(given)),
    onSuccess: () => {
      const [session] = sessionQuery.queryKey
      const changed = (endpoint: unknown) =>
        typeof endpoint === "string" && (endpoint === session || endpoint.startsWith("GET /v1/organization/"))
      return queryClient.invalidateQueries({ predicate: ({ queryKey: [endpoint] }) => changed(endpoint) })
    },
  })
}

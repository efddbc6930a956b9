/** Limits of teams: `/v1/organization/quotas`, `/v1/organization/teams/{team}/quotas`. */
import type { QuotaName, TeamQuotas } from "@heddle/server/wire/platform/quota.ts"
import { useMutation, useQuery } from "@tanstack/react-query"
import type { ApiError } from "../api-error.ts"
import { sendForJson } from "../client.ts"
import { jsonQuery, queryClient } from "../queries.ts"

/** Quotas of one team: one's own, or for an administrator any. */
export function useTeamQuotas(team: string) {
  return useQuery(jsonQuery<TeamQuotas>("GET", pathOf(team)))
}

/** null goes back to the default. */
export function useChangeQuota(team: string) {
  return useMutation<TeamQuotas, ApiError, Partial<Record<QuotaName, number | null>>>({
    mutationFn: (body) => sendForJson({ method: "POST", path: pathOf(team), body }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [`GET ${pathOf(team)}`] }),
  })
}

function pathOf(team: string): string {
  return `/v1/organization/teams/${encodeURIComponent(team)}/quotas`
}

/** Rules that score new calls: `/scoring_rules`. */
import type { RuleScorer, ScoringRule } from "@heddle/server/wire/evaluations/scoring-rule.ts"
import { useMutation, useQuery } from "@tanstack/react-query"
import type { ApiError } from "../api-error.ts"
import { sendForJson } from "../client.ts"
import { jsonQuery, queryClient } from "../queries.ts"

const rulesPath = "/scoring_rules/query"

/** By name. Their counters move while calls come. */
export function useScoringRules(project_id: string) {
  const query = jsonQuery<{ rules: ScoringRule[] }>("POST", rulesPath, { project_id })
  return useQuery({ ...query, refetchInterval: 5_000 })
}

export interface NewRule {
  project_id: string
  name: string
  filter: { op_names?: string[] }
  sampling_rate: number
  scorer: RuleScorer
  daily_budget?: { judge_calls: number | null }
}

export function useMakeScoringRule() {
  return useMutation<unknown, ApiError, NewRule>({
    mutationFn: (body) => sendForJson({ method: "POST", path: "/scoring_rules", body }),
    onSuccess: rulesChanged,
  })
}

export function useSwitchScoringRule(ruleId: string) {
  return useMutation<unknown, ApiError, { project_id: string; active: boolean }>({
    mutationFn: (body) => sendForJson({ method: "PUT", path: `/scoring_rules/${encodeURIComponent(ruleId)}`, body }),
    onSuccess: rulesChanged,
  })
}

export function useDeleteScoringRule(ruleId: string) {
  return useMutation<unknown, ApiError, { project_id: string }>({
    mutationFn: (query) =>
      sendForJson({ method: "DELETE", path: `/scoring_rules/${encodeURIComponent(ruleId)}`, query }),
    onSuccess: rulesChanged,
  })
}

function rulesChanged(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: [`POST ${rulesPath}`] })
}

/** `/scoring_rules`: rules that score new calls as they come. Not in the reference. */
import { type Route, route } from "../../http/route.ts"
import {
  ruleAnswer,
  ruleChangeBody,
  ruleCreateBody,
  ruleDeleted,
  ruleList,
  ruleParams,
  ruleProject,
  rulesQueryBody,
} from "../../wire/evaluations/scoring-rule.ts"
import type { ExecutionDependencies } from "../execution/dependencies.ts"
import { changeRule, listRules, makeRule, readRule, removeRule } from "./rules.ts"

const shared = { dialect: "reason", tag: "Scoring rules" } as const
const one = "/scoring_rules/:rule_id"

/** `changed`: called when a rule was made, changed or deleted. */
export function scoringRuleRoutes(dependencies: ExecutionDependencies, changed: () => Promise<void>): Route[] {
  return [
    route({
      ...shared,
      method: "POST",
      path: "/scoring_rules",
      access: { right: "write", of: "project body.project_id" },
      summary: "Make a rule that scores new calls as they come",
      schemas: { body: ruleCreateBody },
      response: ruleAnswer,
      handle: async ({ body, principal }) => {
        const rule = await makeRule(dependencies, principal, body)
        await changed()
        return { rule }
      },
    }),
    route({
      ...shared,
      method: "POST",
      path: "/scoring_rules/query",
      access: { right: "read", of: "project body.project_id" },
      summary: "The rules of a project, with what they have counted",
      schemas: { body: rulesQueryBody },
      response: ruleList,
      handle: async ({ body, principal }) => ({ rules: await listRules(dependencies, principal, body.project_id) }),
    }),
    route({
      ...shared,
      method: "GET",
      path: one,
      access: { right: "read", of: "project query.project_id" },
      summary: "One rule, with what it has counted",
      schemas: { params: ruleParams, query: ruleProject },
      response: ruleAnswer,
      handle: async ({ params, query, principal }) => ({
        rule: await readRule(dependencies, principal, query.project_id, params.rule_id),
      }),
    }),
    route({
      ...shared,
      method: "PUT",
      path: one,
      access: { right: "write", of: "project body.project_id" },
      summary: "Change what is given of a rule, pause it, or let it go on",
      schemas: { params: ruleParams, body: ruleChangeBody },
      response: ruleAnswer,
      handle: async ({ params, body, principal }) => {
        const rule = await changeRule(dependencies, principal, params.rule_id, body)
        await changed()
        return { rule }
      },
    }),
    route({
      ...shared,
      method: "DELETE",
      path: one,
      access: { right: "write", of: "project query.project_id" },
      summary: "Delete a rule; its scores stay",
      schemas: { params: ruleParams, query: ruleProject },
      response: ruleDeleted,
      handle: async ({ params, query, principal }) => {
        await removeRule(dependencies, principal, query.project_id, params.rule_id)
        await changed()
        return {}
      },
    }),
  ]
}

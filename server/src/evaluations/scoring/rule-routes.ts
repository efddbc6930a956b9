/** `/scoring_rules`: rules that score new calls as they come. Not in the reference. */
import { type Route, route, type RouteContext } from "../../http/route.ts"
import { exactRequest } from "../../http/bodies/exact-request.ts"
import {
  ruleAnswer,
  ruleChangeBody,
  ruleCreateBody,
  ruleDeleted,
  ruleList,
  ruleParams,
  ruleProject,
  type RuleScorer,
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
      handle: async (context) => {
        const rule = await makeRule(dependencies, context.principal, exactRule(context))
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
      handle: async (context) => {
        const rule = await changeRule(dependencies, context.principal, context.params.rule_id, exactRule(context))
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

/** The request with the numbers that calls are compared with as they were spelled. */
function exactRule<Body extends { scorer?: RuleScorer | undefined }>(
  context: Pick<RouteContext, "exactBody" | "request"> & { body: Body },
): Body {
  const body = exactRequest(context)
  const { scorer } = body
  if (scorer?.kind !== "equals" && scorer?.kind !== "json_schema") return body
  const { value, schema } = (context.exactBody() as { scorer: Record<string, unknown> }).scorer
  return { ...body, scorer: scorer.kind === "equals" ? { ...scorer, value } : { ...scorer, schema } }
}

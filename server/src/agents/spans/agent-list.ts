/** `/agents/query` and `/agents/agent-versions/query`: evaluation-store-calls 10. */
import type { Principal } from "../../http/principal.ts"
import { type AgentTotals, countAgents, listAgents } from "../../storage/traces/agents/agent-list.ts"
import type { AgentRow, AgentsBody, AgentVersionsBody } from "../../wire/agents/agents.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { reading, spanPrices } from "../agent-scope.ts"

type Listing = Pick<AgentsBody, "project_id" | "include_costs" | "sort_by" | "limit" | "offset">

export async function queryAgents(
  dependencies: CallDependencies,
  principal: Principal,
  body: AgentsBody,
): Promise<{ agents: AgentRow[]; total_count: number }> {
  const found = await agents(dependencies, principal, body, body.filters ?? {}, false)
  const rows = found.rows.map(({ agent_version: _version, ...row }) => ({ project_id: body.project_id, ...row }))
  return { agents: rows, total_count: found.total }
}

export async function queryAgentVersions(
  dependencies: CallDependencies,
  principal: Principal,
  body: AgentVersionsBody,
): Promise<{ versions: (AgentRow & { agent_version: string })[]; total_count: number }> {
  const found = await agents(dependencies, principal, body, { agent_name: body.agent_name }, true)
  return { versions: found.rows.map((row) => ({ project_id: body.project_id, ...row })), total_count: found.total }
}

async function agents(
  dependencies: CallDependencies,
  principal: Principal,
  body: Listing,
  { agent_name, q }: NonNullable<AgentsBody["filters"]>,
  byVersion: boolean,
): Promise<{ rows: AgentTotals[]; total: number }> {
  return reading(dependencies, principal, body.project_id, async (project) => {
    const prices = body.include_costs === true ? await spanPrices(dependencies, project) : null
    const { limit, offset } = body
    const wanted = { agentName: agent_name || null, text: q || null, byVersion }
    const page = { projectId: project.id, ...wanted, prices, sortBy: body.sort_by ?? null, limit, offset }
    const [rows, total] = await Promise.all([
      listAgents(dependencies.traces, page),
      countAgents(dependencies.traces, page),
    ])
    return { rows, total }
  })
}

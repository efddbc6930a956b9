/** `/agents/spans/custom-attrs/schema`: evaluation-store-calls 10. */
import type { Principal } from "../../http/principal.ts"
import { countAttributes } from "../../storage/traces/agents/custom-attributes.ts"
import type { AttributeSchema, AttributeSchemaBody } from "../../wire/agents/span-query.ts"
import type { CallDependencies } from "../../calls/dependencies.ts"
import { spanQuery, reading, windowOf } from "../agent-scope.ts"
import { attributeTypes } from "./span-groups.ts"

export async function attributeSchema(
  dependencies: CallDependencies,
  principal: Principal,
  body: AttributeSchemaBody,
): Promise<AttributeSchema> {
  const { limit, offset } = body
  const window = windowOf(body)
  return reading(dependencies, principal, body.project_id, async (project) => {
    const query = spanQuery(project, body, window, null)
    const found = await countAttributes(dependencies.traces, query, { limit: limit + 1, offset })
    const attributes = found.slice(0, limit).map(({ source, key, spans }) => ({
      source,
      key,
      value_type: attributeTypes[source],
      span_count: spans,
    }))
    return { attributes, limit, offset, has_more: found.length > limit }
  })
}

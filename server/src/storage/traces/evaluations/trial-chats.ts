/** Questions and answers of trials, for training: each trial's model call, or else its row and output. */
import { either } from "../calls/fields/call-ref-field.ts"
import { callsFinal, hasOddJson } from "../calls/calls-tables.ts"
import { jsonValue } from "../query/json-value.ts"
import { SqlParameters } from "../query/sql-parameters.ts"
import type { TraceStore } from "../store/trace-store.ts"
import { inTraces, isTrial, rowDigestSql, type TrialScope } from "./trials.ts"

export interface TrialChat {
  id: string
  row_digest: string
  exception: string | null
  has_ended: boolean
  /** JSON texts; null where there is none. */
  scores: string | null
  example: string | null
  /** A text, or the JSON of anything else. */
  answer: string | null
}

/** By id, from behind one of them on. */
export function readTrialChats(
  traces: TraceStore,
  scope: TrialScope,
  after: string,
  limit: number,
): Promise<TrialChat[]> {
  const parameters = new SqlParameters()
  const output = (...path: string[]) => jsonValue("output", path, parameters, hasOddJson)
  const digest = rowDigestSql(parameters)
  const source = `from ${callsFinal} where ${isTrial(scope, parameters)} and id > ${parameters.bind(after, "String")}
    order by id limit ${limit}`
  const project = parameters.bind(scope.projectId, "UUID")
  return traces.rows<TrialChat>(
    `select id, row_digest, exception, has_ended, scores, answer,
        if(dataset_row != '', substring(dataset_row, 2, length(dataset_row) - 2), inline) as example
      from (
        select id, ${digest} as row_digest, nullIf(exception, '') as exception, isNotNull(ended_at) as has_ended,
          ${output("scores").as("text")} as scores, ${jsonValue("inputs", ["example"], parameters, hasOddJson).as("text")} as inline,
          ${either(output("output"), output("model_output")).as("text")} as answer ${source}
      ) as trials
      left any join (
        select digest, any(val) as dataset_row from table_rows
        where project_id = ${project} and digest in (select ${digest} ${source}) group by digest
      ) as dataset_rows on dataset_rows.digest = trials.row_digest
      order by id`,
    parameters.values,
  )
}

/** Deeper calls are not looked for. */
const deepest = 6

interface Descendant {
  id: string
  parent_id: string
  is_chat: boolean
}

/** By trial: the last call below it whose inputs hold messages, which is the model's. Trials without one are left out. */
export async function findModelCalls(
  traces: TraceStore,
  scope: TrialScope,
  trialIds: readonly string[],
): Promise<Map<string, string>> {
  const trialOf = new Map(trialIds.map((id) => [id, id]))
  const found = new Map<string, string>()
  let parents = [...trialIds]
  for (let depth = 0; depth < deepest && parents.length > 0; depth++) {
    const below = await childrenOf(traces, scope, parents)
    for (const { id, parent_id, is_chat } of below) {
      const trial = trialOf.get(parent_id) ?? ""
      trialOf.set(id, trial)
      if (is_chat) found.set(trial, id)
    }
    parents = below.map(({ id }) => id)
  }
  return found
}

/** Without those of scorers, which ask models too; oldest first. */
function childrenOf(traces: TraceStore, scope: TrialScope, parents: readonly string[]): Promise<Descendant[]> {
  const parameters = new SqlParameters()
  const within = inTraces(scope, parameters)
  const flag = (...path: string[]) =>
    `ifNull(${jsonValue("attributes", path, parameters, hasOddJson).as("bool")}, false)`
  const isScore = `${flag("weave", "score")} or ${flag("_weave_eval_meta", "score")} or multiSearchAnyCaseInsensitive(assumeNotNull(op_name), ['scorer', '.score:', '/score:'])`
  const isChat = jsonValue("inputs", ["messages"], parameters, hasOddJson).exists
  return traces.rows<Descendant>(
    `select id, parent_id, ${isChat} as is_chat from ${callsFinal}
      where ${within} and parent_id in ${parameters.bind(parents, "Array(String)")} and not (${isScore})
      order by started_at, id`,
    parameters.values,
  )
}

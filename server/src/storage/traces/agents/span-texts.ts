/** What was said in spans, and texts that are looked for in it, as SQL: evaluation-store-calls 10. */
import type { SqlParameters } from "../query/sql-parameters.ts"

/** One text each, with its role: what was said, then what the agent was told, then what tools were given and returned. */
export const messagesSql = `arrayConcat(
  arrayMap(message -> (message.1, message.2), output_messages),
  arrayMap(message -> (message.1, message.2), input_messages),
  arrayMap(text -> ('system', text), system_instructions),
  if(tool_call_arguments = '', [], [('tool_call', tool_call_arguments)]),
  if(tool_call_result = '', [], [('tool_result', tool_call_result)])
)`

const ownTexts = ["agent_name", "conversation_id", "conversation_name", "error_type", "status_message"]

/** SQL: whether the text occurs, whatever the case of its letters. */
export function occursSql(sql: string, text: string, parameters: SqlParameters): string {
  return `positionCaseInsensitiveUTF8(${sql}, ${parameters.bind(text, "String")}) > 0`
}

/** As {@link occursSql}; parts of messages are JSON, in which some characters are written otherwise. */
export function isSaidSql(content: string, text: string, parameters: SqlParameters): string {
  const spellings = [...new Set([text, JSON.stringify(text).slice(1, -1)])]
  return `(${spellings.map((one) => occursSql(content, one, parameters)).join(" or ")})`
}

/** SQL: whether the names of a span, its error or what is said in it hold the text. */
export function holdsSql(text: string, parameters: SqlParameters): string {
  const own = ownTexts.map((name) => occursSql(name, text, parameters))
  const said = `arrayExists(message -> ${isSaidSql("message.2", text, parameters)}, ${messagesSql})`
  return `(${[...own, said].join(" or ")})`
}

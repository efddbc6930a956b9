/**
 * The columns of a span that attributes fill, one by one: evaluation-store-calls 10. Behind the names of
 * the convention come those of others, by the tables that calls are mapped with.
 */
import {
  columnByAttribute,
  columnOf,
  type SpanColumnKind,
  type SpanColumnName,
  spanColumnNames,
} from "../../../storage/traces/agents/span-columns.ts"
import { parseExact } from "../../../json/exact-json.ts"
import { jsonOfValue } from "../otlp/any-value.ts"
import { type AttributePath, type Found, firstFound, integerOf, pathsOf, textOf } from "../spans/attribute-lookup.ts"
import { callAttributeNames, threadNames, tokensOfEmbedding, usageNames } from "../spans/attribute-names.ts"
import { type AttributeTree, jsonOfNode, Leaf, readForm } from "../spans/attribute-tree.ts"

const otherNames: Partial<Record<SpanColumnName, readonly string[]>> = {
  // Nothing tells which of two spans of embeddings a total should count.
  input_tokens: [...usageNames.input_tokens, ...usageNames.prompt_tokens].filter((name) => name !== tokensOfEmbedding),
  output_tokens: [...usageNames.output_tokens, ...usageNames.completion_tokens],
  reasoning_tokens: ["llm.token_count.completion_details.reasoning", "ai.usage.reasoningTokens"],
  cache_creation_input_tokens: usageNames.cache_creation_input_tokens,
  cache_read_input_tokens: usageNames.cache_read_input_tokens,
  provider_name: [...callAttributeNames.provider, "llm.system"],
  request_model: callAttributeNames.model.filter((name) => !name.endsWith(".response.model")),
  agent_name: ["agent.name", "agent_name", "ai.telemetry.functionId"],
  conversation_id: threadNames,
  response_id: callAttributeNames.response_id,
  finish_reasons: callAttributeNames.finish_reasons,
  tool_name: callAttributeNames.tool_name,
  tool_call_id: callAttributeNames.tool_call_id,
  tool_definitions: callAttributeNames.tools,
}

/** Kinds that one value of an attribute fills; messages and maps are made of more. */
const simple: Partial<Record<SpanColumnKind, (found: Found) => unknown>> = {
  text: (found) => textOf(found),
  word: (found) => textOf(found),
  count: countOf,
  integer: wholeNumber,
  number: finiteNumber,
  list: texts,
}

/** Instructions may be parts of a message. */
const ownMapping: ReadonlySet<SpanColumnName> = new Set([
  "system_instructions",
  "tool_call_arguments",
  "tool_call_result",
])

interface SimpleColumn {
  name: SpanColumnName
  paths: AttributePath[]
  read: (found: Found) => unknown
}

const columns: SimpleColumn[] = spanColumnNames.flatMap((name) => {
  const { kind, attributes = [] } = columnOf(name)
  const read = simple[kind]
  if (read === undefined || attributes.length === 0 || ownMapping.has(name)) return []
  return { name, paths: pathsOf([...attributes, ...(otherNames[name] ?? [])]), read }
})

/** Column values taken from attributes; columns without a matching attribute are absent. */
export function attributeColumns(trees: readonly AttributeTree[]): Partial<Record<SpanColumnName, unknown>> {
  const values = columns.flatMap(({ name, paths, read }) => {
    const found = firstFound(trees, paths)
    const value = found === null ? null : read(found)
    return value === null ? [] : [[name, value] as const]
  })
  return Object.fromEntries(values)
}

/** Whether the attribute has a column of its own, and so no place among the others. */
export function hasColumn(attribute: string): boolean {
  return columnByAttribute.has(attribute)
}

/** As for calls, a number below 0 counts nothing. */
function countOf(found: Found): unknown {
  return integerOf(found)?.startsWith("-") === true ? null : wholeNumber(found)
}

/** With all its digits. */
function wholeNumber(found: Found): unknown {
  const digits = integerOf(found)
  return digits === null ? null : JSON.rawJSON(digits)
}

function finiteNumber({ node }: Found): number | null {
  const value = node instanceof Leaf ? node.value : null
  if (typeof value !== "number" && typeof value !== "bigint" && typeof value !== "string") return null
  const number = value === "" ? Number.NaN : Number(value)
  return Number.isFinite(number) ? number : null
}

/** A list, the JSON of one, or one text. */
export function texts(found: Found): string[] | null {
  const text = textOf(found)
  if (text === null || text === "") return null
  if (found.node instanceof Leaf && Array.isArray(found.node.value)) {
    return found.node.value
      .filter((one) => one !== null)
      .map((one) => (typeof one === "string" ? one : jsonOfValue(one)))
  }
  const held = parseExact(jsonOfNode(found.node, readForm))
  if (!Array.isArray(held)) return [text]
  return held.filter((one) => one !== null).map((one) => (typeof one === "string" ? one : JSON.stringify(one)))
}

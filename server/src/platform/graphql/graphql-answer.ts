/** Runs a GraphQL request. Fields that the schema does not have are answered with null: newer clients ask for more. */
import {
  BREAK,
  type DocumentNode,
  execute,
  type ExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isInputObjectType,
  Kind,
  KnownFragmentNamesRule,
  MaxIntrospectionDepthRule,
  type OperationDefinitionNode,
  type NamedTypeNode,
  NoFragmentCyclesRule,
  parse,
  type SelectionSetNode,
  typeFromAST,
  validate,
  visit,
} from "graphql"
import { HeddleError } from "../../errors.ts"
import { graphqlCode } from "../../http/answers/error-dialects.ts"
import { AnswerSize } from "./answer-size.ts"
import { costFault } from "./graphql-cost.ts"
import { type Fragments, fragmentsOf, rootFieldNames, selectedFields } from "./graphql-selections.ts"

export interface GraphqlRequest {
  query: string
  variables?: Record<string, unknown> | null | undefined
  operationName?: string | null | undefined
}

export interface GraphqlAnswer {
  data?: unknown
  errors?: GraphQLFormattedError[]
}

/** A sign-in question has a few dozen tokens. */
const maximumTokens = 5_000

/** Only what running the document safely needs; unknown fields and arguments are no error here. */
const fragmentRules = [KnownFragmentNamesRule, NoFragmentCyclesRule]
/** This rule follows a fragment each time it is spread, so the document's cost is checked before. */
const introspectionRules = [MaxIntrospectionDepthRule]

/** @throws {HeddleError} `payload_too_large`; what a resolver throws that is no {@link HeddleError}. */
export async function answerGraphql(
  schema: GraphQLSchema,
  rootValue: unknown,
  { query, variables, operationName }: GraphqlRequest,
): Promise<GraphqlAnswer> {
  let document: DocumentNode
  try {
    document = parse(query, { maxTokens: maximumTokens })
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error.toJSON()] }
    throw error
  }
  const errors = faultsOf(schema, document)
  if (errors.length > 0) return { errors: errors.map((error) => error.toJSON()) }
  const size = new AnswerSize()
  const result = await execute({
    schema,
    fieldResolver: size.resolve,
    document,
    rootValue,
    variableValues: knownVariables(schema, document, variables ?? {}),
    ...(operationName ? { operationName } : {}),
  })
  size.check()
  return answerOf(result, document, operationName)
}

/** Keeps the input fields that the schema lists. Newer clients send more. */
function knownVariables(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Record<string, unknown>,
): Record<string, unknown> {
  const known = { ...variables }
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue
    for (const { variable, type } of definition.variableDefinitions ?? []) {
      const { value: name } = variable.name
      const named = typeFromAST(schema, type as NamedTypeNode)
      if (Object.hasOwn(known, name)) known[name] = knownFields(getNamedType(named), known[name])
    }
  }
  return known
}

function knownFields(type: GraphQLNamedType | undefined, value: unknown): unknown {
  if (!isInputObjectType(type) || typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map((item) => knownFields(type, item))
  const fields = type.getFields()
  const own = Object.entries(value).filter(([name]) => Object.hasOwn(fields, name))
  return Object.fromEntries(own.map(([name, inner]) => [name, knownFields(getNamedType(fields[name]?.type), inner)]))
}

/** Why the document is not run; empty when it is. */
function faultsOf(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
  const invalid = validate(schema, document, fragmentRules)
  if (invalid.length > 0) return invalid
  const fault = costFault(document) ?? notOffered(schema, document)
  return fault === null ? validate(schema, document, introspectionRules) : [new GraphQLError(fault)]
}

/** Parts of the API that are absent, by the names of their mutations. */
const absentParts: readonly [pattern: RegExp, part: string][] = [
  [/sweep|agent/i, "sweeps are"],
  [/queue|launch|job/i, "launch is"],
  [/view|report/i, "reports are"],
  [/trigger|automation|integration/i, "automations are"],
]

/** Fields that are asked in questions about absent parts alone, in which the client takes null for a broken answer. */
const absentFields: Readonly<Record<string, string>> = {
  triggers: "automations are",
  integrations: "automations are",
  runQueue: "launch is",
  runQueues: "launch is",
}

/** The first of them that the document has. */
function absentField(document: DocumentNode): string | null {
  let found: string | null = null
  visit(document, {
    Field: ({ name }) => {
      if (!Object.hasOwn(absentFields, name.value)) return undefined
      found = name.value
      return BREAK
    },
  })
  return found
}

/** A change that was not made must never look like one that was; most questions about what is not here are answered with null. */
function notOffered(schema: GraphQLSchema, document: DocumentNode): string | null {
  const absent = absentField(document)
  if (absent !== null) return `${absentFields[absent]} not part of this server: it has no field "${absent}"`
  const known = schema.getMutationType()?.getFields() ?? {}
  const fragments = fragmentsOf(document)
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION || definition.operation !== "mutation") continue
    for (const name of rootFieldNames(definition.selectionSet, fragments)) {
      if (name === "__typename" || Object.hasOwn(known, name)) continue
      const part = absentParts.find(([pattern]) => pattern.test(name))?.[1] ?? "that is"
      return `${part} not part of this server: it has no mutation "${name}"`
    }
  }
  return null
}

function answerOf(
  { data, errors = [] }: ExecutionResult,
  document: DocumentNode,
  operationName: string | null | undefined,
): GraphqlAnswer {
  const unexpected = errors.find(({ originalError }) => originalError !== undefined && !isExpected(originalError))
  if (unexpected !== undefined) throw unexpected.originalError
  const operation = document.definitions.find(
    (node): node is OperationDefinitionNode =>
      node.kind === Kind.OPERATION_DEFINITION && (!operationName || node.name?.value === operationName),
  )
  const filled = operation === undefined ? data : withNulls([operation.selectionSet], data, fragmentsOf(document))
  return {
    ...(data === undefined ? {} : { data: filled }),
    ...(errors.length === 0 ? {} : { errors: errors.map(format) }),
  }
}

function isExpected(error: Error): boolean {
  return error instanceof HeddleError || error instanceof GraphQLError
}

function format(error: GraphQLError): GraphQLFormattedError {
  const { originalError } = error
  if (!(originalError instanceof HeddleError)) return error.toJSON()
  return { ...error.toJSON(), extensions: { code: graphqlCode(originalError) } }
}

/**
 * The value with a null for every selected field that execution left out because the schema has none.
 * `selections`: all that select from this value, since one field may be selected at several places.
 */
function withNulls(selections: readonly SelectionSetNode[], value: unknown, fragments: Fragments): unknown {
  if (Array.isArray(value)) return value.map((item) => withNulls(selections, item, fragments))
  if (typeof value !== "object" || value === null) return value
  const filled = new Map(Object.entries(value))
  for (const [key, inner] of selectedFields(selections, fragments)) {
    const answered: unknown = filled.get(key) ?? null
    filled.set(key, inner.length === 0 ? answered : withNulls(inner, answered, fragments))
  }
  return Object.fromEntries(filled)
}

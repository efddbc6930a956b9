/** Runs a GraphQL request. Fields that the schema does not have are answered with null: newer clients ask for more. */
import {
  type DocumentNode,
  execute,
  type ExecutionResult,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  Kind,
  KnownFragmentNamesRule,
  type OperationDefinitionNode,
  NoFragmentCyclesRule,
  parse,
  type SelectionSetNode,
  validate,
} from "graphql"
import { HeddleError } from "../errors.ts"
import { graphqlCode } from "../http/error-dialects.ts"

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
const rules = [KnownFragmentNamesRule, NoFragmentCyclesRule]

/** @throws what a resolver throws that is no {@link HeddleError}. */
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
  const invalid = validate(schema, document, rules)
  if (invalid.length > 0) return { errors: invalid.map((error) => error.toJSON()) }
  const result = await execute({
    schema,
    document,
    rootValue,
    variableValues: variables ?? {},
    ...(operationName ? { operationName } : {}),
  })
  return answerOf(result, document, operationName)
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
  const filled = operation === undefined ? data : withNulls(operation.selectionSet, data, fragmentsOf(document))
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

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>

function fragmentsOf(document: DocumentNode): Fragments {
  const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION)
  return new Map(fragments.map((node) => [node.name.value, node]))
}

/** The value with a null for every selected field that execution left out because the schema has none. */
function withNulls(selections: SelectionSetNode, value: unknown, fragments: Fragments): unknown {
  if (Array.isArray(value)) return value.map((item) => withNulls(selections, item, fragments))
  if (typeof value !== "object" || value === null) return value
  const filled = new Map(Object.entries(value))
  for (const { alias, name, selectionSet } of selectedFields(selections, fragments)) {
    const key = (alias ?? name).value
    const answered: unknown = filled.get(key) ?? null
    filled.set(key, selectionSet === undefined ? answered : withNulls(selectionSet, answered, fragments))
  }
  return Object.fromEntries(filled)
}

function selectedFields(selections: SelectionSetNode, fragments: Fragments): FieldNode[] {
  return selections.selections.flatMap((node) => {
    if (node.kind === Kind.FIELD) return [node]
    const inner = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value)
    return inner === undefined ? [] : selectedFields(inner.selectionSet, fragments)
  })
}

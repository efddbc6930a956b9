/** What is asked at `/graphql`, where runs of the wandb client are kept. */
import { ApiError } from "../api-error.ts"
import { sendForJson } from "../client.ts"

interface GraphqlAnswer<Data> {
  data: Data | null
  errors?: { message: string; extensions?: { code?: string } }[]
}

/** @throws {ApiError} also for an answer of 200 that says what went wrong. */
export async function askGraphql<Data>(query: string, variables: object, signal: AbortSignal): Promise<Data> {
  const body = { query, variables }
  const { data, errors } = await sendForJson<GraphqlAnswer<Data>>({ method: "POST", path: "/graphql", body, signal })
  if (data !== null && errors === undefined) return data
  const [error] = errors ?? []
  throw new ApiError(error?.message ?? "The server answered nothing.", {
    status: 400,
    code: error?.extensions?.code ?? "graphql",
  })
}

/**
 * Prices that hold for every project without one of its own: `default-prices.json`, and over it the
 * file of the operator.
 */
import { readFile } from "node:fs/promises"
import path from "node:path"
import { z } from "zod"
import type { TokenPriceRow } from "../../storage/traces/token-prices.ts"

/** By model. */
export type PriceList = ReadonlyMap<string, readonly TokenPriceRow[]>

const perMillion = z.number().min(0)

const listSchema = z.strictObject({
  about: z.string().optional(),
  /** When somebody last compared it with the providers' pages. */
  checked: z.string().optional(),
  models: z.array(
    z.strictObject({
      /** As the usage of calls names the model. */
      names: z.array(z.string()).min(1),
      provider: z.string(),
      prices: z
        .array(
          z.strictObject({
            from: z.iso.date(),
            input: perMillion,
            output: perMillion,
            cache_read: perMillion.default(0),
            cache_write: perMillion.default(0),
          }),
        )
        .min(1),
    }),
  ),
})

/**
 * `file`: the operator's list in the form of `default-prices.json`, whose models take the place of
 * those shipped; null: none.
 * @throws {Error} with a sentence for the operator when it cannot be used.
 */
export async function loadPriceList(file: string | null): Promise<PriceList> {
  const shipped = parseList(await readFile(path.join(import.meta.dirname, "default-prices.json"), "utf8"))
  if (file === null) return shipped
  try {
    return new Map([...shipped, ...parseList(await readFile(file, "utf8"))])
  } catch (cause) {
    throw new Error(`the price list that HEDDLE_PRICES names, ${file}, cannot be used: ${reasonOf(cause)}`, { cause })
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof z.ZodError ? z.prettifyError(cause) : (cause as Error).message
}

function parseList(text: string): PriceList {
  const { models } = listSchema.parse(JSON.parse(text))
  return new Map(models.flatMap((model) => model.names.map((name) => [name, rowsOf(name, model)] as const)))
}

type ListedModel = z.output<typeof listSchema>["models"][number]

function rowsOf(name: string, { provider, prices }: ListedModel): TokenPriceRow[] {
  return prices.map(({ from, ...price }) => ({
    id: `default:${name}:${from}`,
    llm_id: name,
    provider_id: provider,
    effective_date: `${from}T00:00:00.000000Z`,
    prompt_token_cost: perToken(price.input),
    completion_token_cost: perToken(price.output),
    cache_read_input_token_cost: perToken(price.cache_read),
    cache_creation_input_token_cost: perToken(price.cache_write),
    prompt_token_cost_unit: "USD",
    completion_token_cost_unit: "USD",
    created_by: "system",
    created_at: `${from}T00:00:00.000000Z`,
  }))
}

/** The price of one token, made from text: 0.4 for a million gives 4e-7, where a division would give the double beside it. */
function perToken(forMillion: number): number {
  return Number(`${forMillion}e-6`)
}

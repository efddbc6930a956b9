/** Regular expressions of users, matched by the store's RE2: in time that grows with the text alone, whatever the pattern. */
import { HeddleError } from "../../../errors.ts"
import { type TraceStore, TraceStoreError } from "../store/trace-store.ts"

/** ClickHouse's CANNOT_COMPILE_REGEXP. */
const cannotCompile = 427

/** Whether each of the texts has a match anywhere. @throws {HeddleError} `value_error`: RE2 does not take the pattern. */
export async function matchPattern(traces: TraceStore, pattern: string, texts: readonly string[]): Promise<boolean[]> {
  try {
    // As JSON Lines would have them; a parameter may be as long as a statement.
    const rows = await traces.rows<{ found: number[] }>(
      "select arrayMap(one -> match(one, {pattern:String}), {texts:Array(String)}) as found",
      { pattern, texts },
      { kind: "lookup", few: true },
    )
    return (rows[0]?.found ?? []).map((one) => one === 1)
  } catch (error) {
    if (!(error instanceof TraceStoreError) || error.code !== cannotCompile) throw error
    throw new HeddleError(
      "value_error",
      `the pattern ${JSON.stringify(pattern)} is none that RE2 takes (no look-around, no back-references): ${firstLine(error)}`,
    )
  }
}

function firstLine({ message }: Error): string {
  return (message.split("\n")[0] ?? "").slice(0, 300)
}

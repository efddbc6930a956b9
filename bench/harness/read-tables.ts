/** The tables that the reading benchmark stores, and the queries that it times. */
import { type BenchCall, CallCorpus, seededRandom } from "./call-corpus.ts"
import type { HeddleServer } from "./heddle-server.ts"
import { progress } from "./measure.ts"
import { PROJECT_ID, type ReadCase } from "./read-cases.ts"

/** Rows of one request, as the Python client uploads the parts of a long table. */
const partRows = 5_000
const templates = 1_000

/** Stores a table of so many different rows of about 1.5 KB; returns its digest. */
export async function fillTable(server: HeddleServer, rows: number): Promise<string> {
  const corpus = new CallCorpus(seededRandom(1))
  const payloads = Array.from({ length: templates }, () => corpus.next())
  const row_digests: string[] = []
  for (let from = 0; from < rows; from += partRows) {
    const part = Array.from({ length: Math.min(partRows, rows - from) }, (_, offset) => {
      const { inputs, output } = payloads[(from + offset) % templates] as BenchCall
      return { number: from + offset, of: rows, inputs, output }
    })
    const table = { project_id: PROJECT_ID, rows: part }
    row_digests.push(...(await server.post<{ row_digests: string[] }>("/table/create", { table })).row_digests)
    if (from % 100_000 === 0) progress(`${from} of ${rows} rows stored`)
  }
  const body = { project_id: PROJECT_ID, row_digests }
  return (await server.post<{ digest: string }>("/table/create_from_digests", body)).digest
}

/** A page is asked for once only, and none goes on from another: the server keeps pages that it has read. */
const apart = 97

/** Reads of the table `digest`, which has so many `rows`. */
export function tableCases(digest: string, rows: number): ReadCase[] {
  const near = (round: number) => round * apart
  const far = (round: number) => Math.floor(rows * 0.9) + round * apart
  const page = (offset: number, limit: number) => ({ path: "/table/query", body: { digest, offset, limit } })
  return [
    { what: "one row, near", atMostMs: 10, request: (round) => page(near(round), 1) },
    { what: "one row, far", atMostMs: 10, request: (round) => page(far(round), 1) },
    { what: "50 rows, near", atMostMs: 10, request: (round) => page(near(round) + 1, 50) },
    { what: "50 rows, far", atMostMs: 10, request: (round) => page(far(round) + 1, 50) },
    { what: "number of rows", atMostMs: 10, request: () => ({ path: "/table/query_stats", body: { digest } }) },
  ]
}

/** Times reads of Phoenix and MLflow, filled over OTLP and asked over the API that their own pages and clients use. */
import { setTimeout as sleep } from "node:timers/promises"
import { otlpBatch, otlpSpanId, otlpTraceId } from "./call-batches.ts"
import { CallCorpus, callsPerTrace, seededRandom } from "./call-corpus.ts"
import { requestJson } from "./http.ts"
import { progress } from "./measure.ts"
import { temporaryFolder } from "./paths.ts"
import { Poster, Refused } from "./post.ts"
import { needle } from "./read-cases.ts"
import { untilVisible } from "./store-load.ts"
import { startMlflow, startPhoenix, type TraceStoreServer } from "./trace-stores.ts"

const batch = 100
const connections = 4
const templates = 50
const visibleTimeoutMs = 3_600_000
/** A peer that takes longer for one read is counted as unable to do it. */
const patienceMs = 60_000

/** Milliseconds of each round by read case, without the cases that the peer cannot do, or not within a minute. */
export type PeerTimes = Map<string, number[]>

/** A function for each read case, which asks once and throws when the answer differs from the stored calls. */
type PeerCases = Record<string, (round: number) => Promise<void>>

const peers: {
  start: (folder: string) => Promise<TraceStoreServer>
  casesOf: (origin: string) => Promise<PeerCases>
}[] = [
  { start: startPhoenix, casesOf: phoenixCases },
  { start: startMlflow, casesOf: mlflowCases },
]

/** Measures one peer after the other, each on a new store with `calls` spans. */
export async function measurePeers(calls: number, rounds: number): Promise<Map<string, PeerTimes>> {
  const found = new Map<string, PeerTimes>()
  for (const { start, casesOf } of peers) {
    const folder = temporaryFolder()
    await using server = await start(folder)
    await fill(server, calls)
    const times: PeerTimes = new Map()
    for (const [what, ask] of Object.entries(await casesOf(new URL(server.url).origin))) {
      const milliseconds = await measure(ask, rounds)
      progress(`${server.name}, ${what}: ${milliseconds?.map((one) => one.toFixed(1)).join(" ") ?? "too long for"} ms`)
      if (milliseconds !== null) times.set(what, milliseconds)
    }
    found.set(server.name, times)
  }
  return found
}

/** Stores `calls` spans, one of which, in the first batch, contains the needle. */
async function fill(server: TraceStoreServer, calls: number): Promise<void> {
  const corpus = new CallCorpus(seededRandom(1))
  let made = 0
  const scored = () => {
    const call = corpus.next()
    return { ...call, attributes: { ...call.attributes, nested: { score: ((made++ * 7919) % 100_000) / 1000 } } }
  }
  const batches = Array.from({ length: templates }, () => server.batchOf(Array.from({ length: batch }, scored)))
  const first = Array.from({ length: batch }, scored)
  first.splice(1, 1, { ...scored(), place: 1, output: { note: needle } })
  const total = Math.ceil(calls / batch)
  const poster = new Poster(connections)
  let sequence = 0
  const connection = async () => {
    for (let number = sequence++; number < total; number = sequence++) {
      const { contentType, fresh } =
        number === 0 ? otlpBatch(first, "bench") : (batches[number % templates] ?? batches[0]!)
      await postWhenThereIsRoom(poster, server, fresh(number), contentType)
    }
  }
  await Promise.all(Array.from({ length: connections }, connection))
  poster.close()
  await untilVisible(server, total * batch, visibleTimeoutMs, 500)
}

/** Posts again while the answer is 503, which Phoenix gives while its queue is full. */
async function postWhenThereIsRoom(
  poster: Poster,
  server: TraceStoreServer,
  bytes: Buffer,
  contentType: string,
): Promise<void> {
  for (;;) {
    try {
      await poster.post(server.url, bytes, { ...server.headers, "content-type": contentType })
      return
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 503) throw error
      await sleep(1000)
    }
  }
}

/** Milliseconds of each round; null when an answer takes longer than {@link patienceMs}. */
async function measure(ask: (round: number) => Promise<void>, rounds: number): Promise<number[] | null> {
  const milliseconds: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const began = performance.now()
    const late = sleep(patienceMs, "late", { ref: false })
    if ((await Promise.race([ask(round), late])) === "late") return null
    if (round > 0) milliseconds.push(performance.now() - began)
  }
  return milliseconds
}

/** Number of a trace of the first batch, another one each round. */
const traceOf = (round: number) => (round * 7) % (batch / callsPerTrace)

interface Spans {
  edges: { node: { spanId: string } }[]
}

async function phoenixCases(origin: string): Promise<PeerCases> {
  const graphql = async <T>(query: string, variables: object): Promise<T> => {
    const { data, errors } = await requestJson<{ data: T; errors?: unknown }>("POST", `${origin}/graphql`, {
      query,
      variables,
    })
    if (errors !== undefined) throw new Error(`Phoenix answered ${JSON.stringify(errors).slice(0, 500)}`)
    return data
  }
  const { projects } = await graphql<{ projects: { edges: { node: { id: string; recordCount: number } }[] } }>(
    "{ projects { edges { node { id recordCount } } } }",
    {},
  )
  const id = projects.edges.find(({ node }) => node.recordCount > 0)?.node.id
  const selection = "edges { node { spanId name startTime attributes } }"
  const ofProject = async <T>(fields: string): Promise<T> =>
    (await graphql<{ node: T }>(`query ($id: ID!) { node(id: $id) { ... on Project { ${fields} } } }`, { id })).node
  const spans = async (argument: string, expected: number) => {
    const found = await ofProject<{ spans: Spans }>(
      `spans(first: 50, sort: { col: startTime, dir: desc }${argument}) { ${selection} }`,
    )
    expectCount("Phoenix", found.spans.edges.length, expected)
  }
  return {
    "newest 50": () => spans("", 50),
    "call by id": async (round) => {
      const spanId = otlpSpanId(0, traceOf(round) + 1).toString("hex")
      const found = await graphql<{ getSpanByOtelId: { spanId: string } | null }>(
        `
          query ($spanId: String!) {
            getSpanByOtelId(spanId: $spanId) {
              spanId
              name
              startTime
              attributes
            }
          }
        `,
        { spanId },
      )
      expectCount("Phoenix", found.getSpanByOtelId === null ? 0 : 1, 1)
    },
    "trace by id": async (round) => {
      const traceId = otlpTraceId(traceOf(round) + 1).toString("hex")
      const found = await graphql<{ getTraceByOtelId: { spans: Spans } | null }>(
        `query ($traceId: String!) { getTraceByOtelId(traceId: $traceId) { spans(first: 1000) { ${selection} } } }`,
        { traceId },
      )
      expectCount("Phoenix", found.getTraceByOtelId?.spans.edges.length ?? 0, callsPerTrace)
    },
    "filter on a nested JSON number, count": async (round) => {
      const condition = JSON.stringify(`metadata['attributes']['nested']['score'] > ${50 + round}`)
      const { recordCount } = await ofProject<{ recordCount: number }>(`recordCount(filterCondition: ${condition})`)
      if (recordCount < 1) throw new Error("Phoenix finds no span by a nested number")
    },
    "substring search, newest 50": () =>
      spans(`, filterCondition: ${JSON.stringify(`'${needle}' in output.value`)}`, 1),
  }
}

function mlflowCases(origin: string): Promise<PeerCases> {
  const locations = [{ type: "MLFLOW_EXPERIMENT", mlflow_experiment: { experiment_id: "0" } }]
  const search = async (filter: string, expected: number) => {
    const body = { locations, max_results: 50, order_by: ["timestamp_ms DESC"], ...(filter === "" ? {} : { filter }) }
    const { traces } = await requestJson<{ traces?: unknown[] }>("POST", `${origin}/api/3.0/mlflow/traces/search`, body)
    expectCount("MLflow", traces?.length ?? 0, expected)
  }
  return Promise.resolve({
    // MLflow lists traces without their spans, not calls.
    "newest 50": () => search("", 50),
    "trace by id": async (round) => {
      const traceId = `tr-${otlpTraceId(traceOf(round) + 1).toString("hex")}`
      const { trace } = await requestJson<{ trace: { spans: unknown[] } }>(
        "GET",
        `${origin}/api/3.0/mlflow/traces/get?trace_id=${traceId}`,
      )
      expectCount("MLflow", trace.spans.length, callsPerTrace)
    },
    "substring search, newest 50": () => search(`span.content LIKE '%${needle}%'`, 1),
  })
}

function expectCount(name: string, found: number, expected: number): void {
  if (found !== expected) throw new Error(`${name} answered ${found} rows where ${expected} were stored`)
}

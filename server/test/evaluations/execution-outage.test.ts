/**
 * Evaluations that the server runs while the network to a store comes and goes: law 7. The stores are the PostgreSQL
 * and ClickHouse servers of this test run, if it has any.
 */
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { evaluationStatus } from "../../src/wire/evaluations/execution.ts"
import { newClickHouseUrl } from "../support/clickhouse-database.ts"
import { answering, callsOf, type ExecutionApp, openExecutionApp } from "../support/execution-app.ts"
import { evaluation, judge, publish, publishDataset, structuredModel } from "../support/judges.ts"
import { newPostgresUrl } from "../support/postgres-database.ts"
import { TcpProxy } from "../support/tcp-proxy.ts"

const postgresUrl = await newPostgresUrl()
const clickhouseUrl = newClickHouseUrl()
const soon = { timeout: 60_000, interval: 200 }

describe.skipIf(postgresUrl === null)("an evaluation over absences of PostgreSQL", () => {
  testAbsences("postgresUrl", postgresUrl as string)
})
describe.skipIf(clickhouseUrl === null)("an evaluation over absences of ClickHouse", () => {
  testAbsences("clickhouseUrl", clickhouseUrl as string)
})

function testAbsences(setting: "postgresUrl" | "clickhouseUrl", url: string): void {
  let proxy: TcpProxy
  let opened: ExecutionApp
  beforeAll(async () => {
    proxy = await TcpProxy.open(url)
    opened = await openExecutionApp({ [setting]: proxy.url })
  })
  afterEach(() => proxy.mend())
  afterAll(async () => {
    await opened.close()
    await proxy.close()
  })

  const answers = answering((messages) => {
    const asked = messages.map(({ content }) => content).join("\n")
    const judged = /^judge (\S+) for (\S+)/.exec(asked)
    return judged === null ? asked.toUpperCase() : JSON.stringify({ good: judged[1] === judged[2], length: 1 })
  })

  async function world() {
    const { acme } = opened
    const project = acme.newProject()
    const template = { messages_template: [{ role: "user", content: "{question}" }], response_format: "text" }
    const model = await publish(acme, project, "shouter", structuredModel(template))
    const scorer = await publish(acme, project, "judge", judge("judge {output} for {expected}"))
    const rows = ["one", "three", "seven"].map((question) => ({ question, expected: question.toUpperCase() }))
    const dataset = await publishDataset(acme, project, rows)
    return { project, model, evaluationRef: await publish(acme, project, "shouting", evaluation(dataset, [scorer])) }
  }

  async function completed(project: string, call_id: string) {
    const status = async () => {
      const { status: code, body } = await opened.acme.post("/evaluations/status", { project_id: project, call_id })
      return code === 200 ? evaluationStatus.parse(body).status : { code: "running" as const }
    }
    await expect.poll(async () => (await status()).code, soon).not.toBe("running")
    return status()
  }

  async function opsOf(project: string): Promise<Record<string, number>> {
    const calls = (await callsOf(opened.acme, project)) as unknown as { op_name: string; exception: string | null }[]
    expect(calls.filter(({ exception }) => exception !== null)).toEqual([])
    const short = (op: string) => op.split("/op/")[1]?.split(":")[0] ?? op
    return Object.fromEntries(
      Array.from(
        Map.groupBy(calls, ({ op_name }) => short(op_name)),
        ([op, list]) => [op, list.length],
      ),
    )
  }

  const whole = {
    "Evaluation.evaluate": 1,
    "Evaluation.predict_and_score": 3,
    "shouter.predict": 3,
    "judge.score": 3,
    "Evaluation.summarize": 1,
  }

  test("no absence is taken for a model's failure, no prediction is made twice, and it ends", async () => {
    const { project, model, evaluationRef } = await world()
    let asked = 0
    opened.fake.handlers.chat = (params, call) => {
      asked += 1
      if (asked === 2 || asked === 5) {
        proxy.cut()
        setTimeout(() => proxy.mend(), 1_500)
      }
      return answers(params, call)
    }
    const begun = await opened.acme.post("/evaluations/evaluate_model", {
      project_id: project,
      evaluation_ref: evaluationRef,
      model_ref: model,
    })
    expect([begun.status, begun.text]).toEqual([200, begun.text])
    const { call_id } = begun.body as { call_id: string }
    expect(await completed(project, call_id)).toMatchObject({
      code: "complete",
      output: { judge: { good: { mean: 1 } } },
    })
    expect(asked).toBeGreaterThanOrEqual(6)
    expect(await opsOf(project)).toEqual(whole)
  }, 90_000)

  test.runIf(setting === "clickhouseUrl")(
    "the answer of a completion comes though the trace store went meanwhile, and is in its call later",
    async () => {
      const project = opened.acme.newProject()
      opened.fake.handlers.chat = (params, call) => {
        proxy.cut()
        return answers(params, call)
      }
      const inputs = { model: "heddle/tiny", messages: [{ role: "user", content: "one" }] }
      const answer = await opened.acme.post("/completions/create", { project_id: project, inputs })
      const response = { choices: [{ message: { content: "ONE" } }] }
      expect([answer.status, answer.body]).toMatchObject([200, { response }])
      proxy.mend()
      await expect.poll(async () => (await callsOf(opened.acme, project))[0]?.ended_at, soon).not.toBeNull()
      expect(await callsOf(opened.acme, project)).toMatchObject([{ exception: null, output: response }])
    },
    90_000,
  )

  test.runIf(setting === "clickhouseUrl")(
    "one that is stored when the trace store goes is begun later, and once",
    async () => {
      const { project, model, evaluationRef } = await world()
      opened.fake.handlers.chat = answers
      proxy.cutAfter("insert+into+calls+")
      const begun = await opened.acme.post("/evaluations/evaluate_model", {
        project_id: project,
        evaluation_ref: evaluationRef,
        model_ref: model,
      })
      expect([begun.status, begun.text]).toEqual([200, begun.text])
      await sleep(1_000)
      proxy.mend()
      const { call_id } = begun.body as { call_id: string }
      expect(await completed(project, call_id)).toMatchObject({ code: "complete" })
      expect(await opsOf(project)).toEqual(whole)
    },
    90_000,
  )
}

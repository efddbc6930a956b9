/** Chats of very many spans are cut, and the answer says so: evaluation-store-calls 10. */
import { afterAll, beforeAll, expect, test } from "vitest"
import { agentSpanLine } from "../../src/storage/traces/agents/span-table.ts"
import { conversationChat, traceChat } from "../../src/wire/agents/agent-chat.ts"
import { mustBody } from "../support/answers.ts"
import { sendSpans, spanId, traceId } from "../support/agent-spans.ts"
import { type EvaluationApp, openEvaluationApp } from "../support/evaluation-app.ts"

const project = "acme/long-talks"

let opened: EvaluationApp
beforeAll(async () => {
  opened = await openEvaluationApp()
  await sendSpans(opened.acme, project, { trace: "f", id: "f", at: 0 })
  const { id: project_id } = await opened.app.stores.catalog
    .selectFrom("projects")
    .select("id")
    .where("name", "=", "long-talks")
    .executeTakeFirstOrThrow()
  for (const [trace, count, second, conversation_id] of [
    ["1", 12_000, "01", "talk"],
    ["2", 12_000, "02", "talk"],
    ["3", 20_001, "03", "monologue"],
  ] as const) {
    const spans = Array.from({ length: count }, (_, index) => ({
      project_id,
      trace_id: traceId(trace),
      span_id: spanId(index.toString(16)),
      span_name: "step",
      started_at: `2026-03-01 10:00:${second}.${String(index).padStart(6, "0")}`,
      conversation_id,
      input_tokens: 1,
      output_messages: index === 11_999 ? [{ role: "assistant", content: `end of ${trace}`, finish_reason: "" }] : [],
    }))
    await opened.app.stores.traces.insert("agent_spans", Buffer.from(spans.map(agentSpanLine).join("")))
  }
})
afterAll(() => opened.close())

async function ask(path: string, fields: object): Promise<unknown> {
  return mustBody(opened.acme.post(path, { project_id: project, ...fields }))
}

test("a page of a conversation has no more turns than it has room for, each of them whole", async () => {
  const page = async (fields: object) => {
    const asked = { conversation_id: "talk", ...fields }
    const { turns, ...rest } = conversationChat.strict().parse(await ask("/agents/conversations/chat", asked))
    const shown = turns.map(({ trace_id, total_input_tokens, messages }) => [
      trace_id,
      total_input_tokens,
      messages.map(({ assistant_message }) => assistant_message?.text),
    ])
    return { shown, has_more: rest.has_more, limit: rest.limit, total_turns: rest.total_turns }
  }
  expect(await page({})).toEqual({
    shown: [[traceId("2"), 12_000, ["end of 2"]]],
    has_more: true,
    limit: 1,
    total_turns: 2,
  })
  expect(await page({ offset: 1 })).toEqual({
    shown: [[traceId("1"), 12_000, ["end of 1"]]],
    has_more: false,
    limit: 50,
    total_turns: 2,
  })
}, 60_000)

test("one turn of more spans than an answer is made of says how many it leaves out", async () => {
  for (const chat of [
    traceChat.strict().parse(await ask("/agents/traces/chat", { trace_id: traceId("3") })),
    conversationChat.strict().parse(await ask("/agents/conversations/chat", { conversation_id: "monologue" })).turns[0],
  ]) {
    const last = chat?.messages.at(-1)
    expect([chat?.messages.length, last?.type]).toEqual([2, "context_compacted"])
    expect(last?.context_compacted).toEqual({
      compaction_summary: expect.stringMatching(/20000 of .*20001 spans.*\/agents\/spans\/query/) as unknown,
      compaction_items_before: 20_001,
      compaction_items_after: 20_000,
    })
  }
}, 60_000)

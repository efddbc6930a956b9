/** Traces of scripts/picture-project.ts that have more to show than a text: conversations of agents, a report with media. */
import { randomUUID } from "node:crypto"
import { sendTurns, turnOf } from "../web/browser/support/fill-agents.ts"
import { contentValue, soundValue, wavOf } from "../web/browser/support/fill-media.ts"
import type { Heddle } from "../web/browser/support/heddle.ts"

const tool = (name: string, given: string, returned: string) => ({ name, given, returned })
const order = (number: number, state: string) =>
  tool("lookup_order", `{"order": ${number}}`, `{"order": ${number}, ${state}}`)

/** What customers and agents said to each other, in the order of the conversations' last turns. */
const talks: { id: string; agent: string; said: Pick<Parameters<typeof turnOf>[0], "asks" | "answers" | "tool">[] }[] =
  [
    {
      id: "ticket-88071",
      agent: "size-advisor",
      said: [{ asks: "Is the parka cut wide?", answers: "It runs one size large; take M instead of L." }],
    },
    {
      id: "ticket-88090",
      agent: "returns-desk",
      said: [
        {
          asks: "Where is my refund for the tent?",
          answers: "It was sent back to your card on Monday and takes five days.",
          tool: order(88_090, '"refund": "sent", "amount": 219'),
        },
        {
          asks: "The card is closed.",
          answers: "Then the bank returns it to us, and I send it to an account you name.",
        },
      ],
    },
    {
      id: "ticket-88107",
      agent: "returns-desk",
      said: [
        {
          asks: "You charged me twice, €149.00 both times.",
          answers: "I see two charges of €149.00 on 14 November. The second one was sent back just now.",
          tool: order(88_107, '"charges": [149, 149]'),
        },
      ],
    },
    {
      id: "ticket-88112",
      agent: "size-advisor",
      said: [
        { asks: "Between 42 and 43 in the boots?", answers: "43: they are worn with thick socks." },
        { asks: "And if they are too long?", answers: "An exchange within 30 days is free." },
      ],
    },
    {
      id: "ticket-88150",
      agent: "returns-desk",
      said: [
        {
          asks: "The parcel is marked delivered, and nobody here got it.",
          answers: "The carrier left it at the shop on Lindenstraße 4, which is open until **20:00**.",
          tool: tool("track_parcel", '{"parcel": "JJD0149"}', '{"state": "delivered", "to": "shop, Lindenstraße 4"}'),
        },
        { asks: "They say they do not have it.", answers: "I have opened a search. You hear from us by Friday noon." },
        {
          asks: "I leave on Thursday. Can you send another one?",
          answers:
            "Yes. A replacement leaves today by express and arrives on **Wednesday**. If the first one turns up, keep the label inside and send it back for free.",
          tool: tool("send_replacement", '{"order": 88150, "express": true}', '{"arrives": "Wednesday"}'),
        },
        { asks: "Perfect, thank you!", answers: "Gladly. Have a good trip." },
      ],
    },
  ]

/** Turns of the last hours. */
export async function sendConversations(to: Heddle, project: string): Promise<void> {
  const now = Date.now()
  let number = 0
  const turns = talks.flatMap(({ id: conversation, agent, said }, talk) =>
    said.map((words, turn) => {
      number += 1
      const began = now - (talks.length - talk) * 47 * 60_000 + turn * 130_000
      return turnOf({ number, began, agent, version: agent === "returns-desk" ? "2" : "1", conversation, ...words })
    }),
  )
  await sendTurns(to, project, turns)
}

/** A report with a chart, made of a note that somebody has spoken. */
export async function sendReport(to: Heddle, id: string): Promise<void> {
  const note = await soundValue(to, id, wavOf(7))
  const bars = [31, 28, 44, 39, 52, 47, 36]
    .map((returns, day) => {
      const [x, height] = [58 + day * 60, returns * 3.6]
      return `<rect x="${x}" y="${250 - height}" width="36" height="${height}" rx="3" fill="#c2572b"/>
        <text x="${x + 18}" y="${242 - height}">${returns}</text><text x="${x + 18}" y="272">${"MTWTFSS"[day]}</text>`
    })
    .join("")
  const chart = `<svg xmlns="http://www.w3.org/2000/svg" width="500" height="300" font-family="sans-serif" font-size="15"
    text-anchor="middle"><rect width="500" height="300" fill="#fff"/><text x="250" y="26" font-size="17">Returns of week 47</text>
    <path d="M40 250H480" stroke="#999"/>${bars}</svg>`
  const report = "## Week 47\n\n277 returns, **52 on Friday**. Every third one is the parka, which runs a size large."
  const output = {
    chart: await contentValue(to, id, { bytes: chart, mimetype: "image/svg+xml", filename: "returns.svg" }),
    report: await contentValue(to, id, { bytes: report, mimetype: "text/markdown", filename: "report.md" }),
  }
  const began = Date.now() - 90_000
  const trace_id = randomUUID()
  const root = randomUUID()
  const call = (op_name: string, [from, until]: [number, number], more: object) => ({
    project_id: id,
    id: randomUUID(),
    trace_id,
    parent_id: root,
    op_name,
    started_at: new Date(began + from * 1000).toISOString(),
    ended_at: new Date(began + until * 1000).toISOString(),
    attributes: {},
    summary: {},
    ...more,
  })
  const words = "Sum up the returns of the week by day, with a chart, and tell what stands out."
  const batch = [
    call("sum_up_week", [0, 9.4], { id: root, parent_id: null, inputs: { week: 47, note }, output }),
    call("transcribe", [0.1, 2.6], { inputs: { note }, output: words }),
    call("count_returns", [2.7, 3.1], { inputs: { week: 47 }, output: [31, 28, 44, 39, 52, 47, 36] }),
    call("draw_chart", [3.2, 4], { inputs: { title: "Returns of week 47" }, output: output.chart }),
    call("write_report", [4.1, 9.3], { inputs: { words }, output: report }),
  ]
  await to.send("POST", `/v2/${id}/calls/complete`, { batch })
}

/**
 * Starts a server with a project as a team has it after some days, for scripts/pictures.ts; prints its address and key,
 * and goes on until it is interrupted. The data is made through the API: answers, curves and labels are real ones of the
 * shipped model.
 *
 * Usage: node scripts/picture-project.ts [--trainings 12]
 * --trainings 0: without the engine, and so without models, jobs and answers of the playground.
 * Changes: web/dist, which it builds where the pages have changed; the data folder is a temporary one.
 */
import { once } from "node:events"
import { parseArgs } from "node:util"
import { fillEvaluation } from "../web/browser/support/fill-evaluations.ts"
import { fillObjects } from "../web/browser/support/fill-objects.ts"
import { fillLabelTeam, newQueue, sendChats } from "../web/browser/support/fill-queue.ts"
import { fillRuns } from "../web/browser/support/fill-runs.ts"
import { fillProject, trainGroups } from "../web/browser/support/fill.ts"
import { type Heddle, startHeddle } from "../web/browser/support/heddle.ts"
import { sendConversations, sendReport } from "./picture-traces.ts"
import { ensureWeb } from "./setup/web.mjs"

const { values: given } = parseArgs({ options: { trainings: { type: "string", default: "12" } } })
const project = "support"
const id = `local/${project}`

const trainings = Number(given.trainings)
await ensureWeb()
const heddle = await startHeddle(trainings === 0 ? { HEDDLE_ENGINE: "none" } : {})
const closed = once(process, "SIGINT")
process.once("SIGTERM", () => process.emit("SIGINT"))
try {
  if (trainings > 0) await train(heddle)
  // It makes the project.
  await fillEvaluation(heddle, project)
  await fillObjects(heddle, id)
  const labelled = await addLabels(heddle)
  await addRules(heddle)
  await fillRuns(heddle, project)
  await sendConversations(heddle, id)
  await sendReport(heddle, id)
  const command = `node scripts/pictures.ts --url ${heddle.url} --key ${heddle.key}`
  console.log(`${command} --project ${id}`)
  console.log(`${command} --project ${labelled} --only queues,queue,label`)
  await closed
} finally {
  await heddle.close()
}

async function train(to: Heddle): Promise<void> {
  await fillProject(to, project, trainings)
  await trainGroups(to, id, [
    { question: "7+1=", rewards: [0, 1, 0.5, 0.25] },
    { question: "8+1=", rewards: [0.5, 0.5, 0.5, 0.5] },
    { question: "2+6=", rewards: [1, 0, 0, 0.75] },
    { question: "9+1=", rewards: [0, 1, 1, 0.25] },
  ])
}

/** A team with a queue that two people have begun; now and then they differ. Returns its project. */
async function addLabels(to: Heddle): Promise<string> {
  const team = await fillLabelTeam(to)
  const { tone, warm } = team
  const { id: queue } = await newQueue(to, team, 24, { required_annotators: 2, scorer_refs: [tone, warm] })
  const path = `/annotation_queues/${queue}/items`
  const { items } = await to.send<{ items: { id: string; call_id: string }[] }>("POST", `${path}/query`, {
    project_id: team.id,
  })
  for (const [who, count] of [
    ["ann", 13],
    ["ben", 9],
  ] as const) {
    const say = (call: string, field: string, annotation_ref: string, value: unknown) =>
      team.as[who].send("POST", "/feedback/create", {
        project_id: team.id,
        queue_id: queue,
        weave_ref: `weave:///${team.id}/call/${call}`,
        feedback_type: `wandb.annotation.${field}`,
        annotation_ref,
        payload: { value },
      })
    for (const [at, { id: item, call_id }] of items.slice(0, count).entries()) {
      const isOther = who === "ben" && at % 4 === 3
      await say(call_id, "tone", tone, isOther ? "neutral" : ["kind", "neutral", "kind", "rude"][at % 4])
      await say(call_id, "warm", warm, isOther ? 3 : [5, 3, 4, 1][at % 4])
      const progress = { project_id: team.id, annotation_state: "completed" }
      await team.as[who].send("POST", `${path}/${item}/progress`, progress)
    }
  }
  return team.id
}

/** Two rules, and calls that they score. */
async function addRules(to: Heddle): Promise<void> {
  const filter = { op_names: ["answer_chat"] }
  const rule = (name: string, scorer: object, sampling_rate: number) =>
    to.send("POST", "/scoring_rules", { project_id: id, name, filter, scorer, sampling_rate })
  await rule("says-sorry", { kind: "contains", words: ["sorry"], ignore_case: true }, 1)
  await rule("short-enough", { kind: "length", max: 90, field: "output.choices.0.message.content" }, 0.5)
  await sendChats(to, id, 30, "answer_chat")
}

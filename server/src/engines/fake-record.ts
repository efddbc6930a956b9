/** The scripted engine's record of a job's trajectories: rewards and messages, without tokens. */
import { createHash } from "node:crypto"
import { mkdir, writeFile } from "node:fs/promises"
import path from "node:path"
import type { SpecTrajectory } from "../wire/engine/train.ts"

export async function writeFakeRecord(folder: string, lines: readonly SpecTrajectory[]): Promise<void> {
  const groups = new Set(lines.map(({ group }) => group))
  let at = 0
  const turnLines = lines.map(({ histories }) => sealed({ tools: null, turns: histories.flatMap(turnsOf) }))
  const trajectories = lines.map(({ group, index, reward, histories }, place) => {
    const length = Buffer.byteLength(turnLines[place] ?? "")
    const turns_at = at
    at += length
    return sealed({
      group,
      index,
      reward,
      advantage: reward - 0.5,
      question: "a question",
      question_digest: digestOf(JSON.stringify(histories[0]?.items[0] ?? null)),
      completions: 1,
      sampled_tokens: 0,
      turns_at,
      turns_length: length,
      sequences: [],
      drops: [{ cause: "no_logprobs", place: "turn 0" }],
    })
  })
  const summary = sealed({
    groups: groups.size,
    groups_with_contrast: groups.size,
    trajectories: lines.length,
    trajectories_trained: 0,
    trained_tokens: 0,
    lowest_reward: 0,
    highest_reward: 1,
    drops: [],
  })
  await mkdir(folder, { recursive: true })
  await writeFile(path.join(folder, "turns.jsonl"), turnLines.join(""))
  await writeFile(path.join(folder, "trajectories.jsonl"), [summary, ...trajectories].join(""))
}

function turnsOf(history: SpecTrajectory["histories"][number]) {
  return history.items.map((item) =>
    "choice" in item
      ? { history: 0, place: "turn 0", message: item.choice.message, tokens: null, cause: "no_logprobs" }
      : { history: 0, message: item.message },
  )
}

function sealed(value: object): string {
  const text = JSON.stringify(value)
  return `${digestOf(text)} ${text}\n`
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}

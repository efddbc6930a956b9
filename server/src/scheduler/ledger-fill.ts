/** Puts what the token ledger holds into a job's data, for choices that carry a key of it (engine 5.4). */
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { access, open, rename, rm } from "node:fs/promises"
import { holdsNumber, parseExact } from "../json/exact-json.ts"
import type { LedgerEntry } from "../storage/traces/token-ledger.ts"
import type { SpecChoice, SpecTrajectory } from "../wire/engine/train.ts"

/** Entries of a project's completions by key. */
export type FindLedgerEntries = (projectId: string, keys: readonly string[]) => Promise<LedgerEntry[]>

export interface JobData {
  path: string
  sha256: string
}

/** Lines looked up at once; bounds memory. */
const linesAtOnce = 64
/** A line without it need not be parsed. */
const keyField = '"ledger_key":"'

/**
 * Writes the filled data to `output` and returns it, or returns `data` itself when no choice carries
 * a key. A job that resumes finds the file of its first beginning and so trains on the same bytes.
 */
export async function fillLedger(
  data: JobData,
  output: string,
  find: (keys: string[]) => Promise<LedgerEntry[]>,
): Promise<JobData> {
  if (await exists(output)) return { path: output, sha256: await sha256Of(output) }
  const partial = `${output}.partial`
  const file = await open(partial, "w", 0o600)
  const hash = createHash("sha256")
  let filled = 0
  try {
    for await (const lines of batches(data.path)) {
      const result = await fillLines(lines, find)
      filled += result.filled
      hash.update(result.text)
      await file.write(result.text)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  if (filled === 0) {
    await rm(partial)
    return data
  }
  await rename(partial, output)
  return { path: output, sha256: hash.digest("hex") }
}

async function* batches(path: string): AsyncGenerator<string[]> {
  let lines: string[] = []
  for await (const line of linesOf(path)) {
    lines.push(line)
    if (lines.length < linesAtOnce) continue
    yield lines
    lines = []
  }
  if (lines.length > 0) yield lines
}

/** A line ends at a line feed alone. `readline` also ends one at U+2028 and U+2029, which stand raw in JSON strings. */
async function* linesOf(path: string): AsyncGenerator<string> {
  let pieces: string[] = []
  for await (const chunk of createReadStream(path, "utf8") as AsyncIterable<string>) {
    const [first = "", ...others] = chunk.split("\n")
    pieces.push(first)
    for (const other of others) {
      yield pieces.join("")
      pieces = [other]
    }
  }
  const last = pieces.join("")
  if (last !== "") yield last
}

async function fillLines(lines: string[], find: (keys: string[]) => Promise<LedgerEntry[]>) {
  const parsed = lines.map((line) => (line.includes(keyField) ? parseLine(line) : null))
  const choices = parsed.filter((trajectory) => trajectory !== null).flatMap(choicesWithKey)
  const found = choices.length === 0 ? [] : await find(choices.map((choice) => choice.ledger_key))
  const entries = new Map(found.map((entry) => [entry.ledger_key, entry]))
  let filled = 0
  for (const choice of choices) {
    const entry = entries.get(choice.ledger_key)
    if (entry === undefined) continue
    const { prompt_token_ids, token_ids, logprobs } = entry
    choice.ledger = {
      prompt_token_ids: [...prompt_token_ids],
      token_ids: [...token_ids],
      logprobs: [...logprobs],
    }
    filled += 1
  }
  const text = lines.map((line, place) => `${parsed[place] == null ? line : JSON.stringify(parsed[place])}\n`).join("")
  return { text, filled }
}

/** Numbers of messages and tools keep their spelling (law 3); parsing for that is slow, and most have none. */
function parseLine(line: string): SpecTrajectory {
  const trajectory = JSON.parse(line) as SpecTrajectory
  return trajectory.histories.some(holdsNumbers) ? (parseExact(line) as SpecTrajectory) : trajectory
}

function holdsNumbers({ items, tools }: SpecTrajectory["histories"][number]): boolean {
  return holdsNumber(tools) || items.some((item) => holdsNumber("choice" in item ? item.choice.message : item.message))
}

type ChoiceWithKey = SpecChoice & { ledger_key: string }

function choicesWithKey(trajectory: SpecTrajectory): ChoiceWithKey[] {
  return trajectory.histories
    .flatMap((history) => history.items)
    .flatMap((item) => ("choice" in item && item.choice.ledger_key !== null ? [item.choice as ChoiceWithKey] : []))
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash("sha256")
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest("hex")
}

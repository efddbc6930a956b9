/** Fills a job's data with the tokens of choices that carry a key of the token ledger (engine 5.4). */
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { access, open, rename, rm } from "node:fs/promises"
import { setImmediate } from "node:timers/promises"
import { holdsNumber, parseExact } from "../json/exact-json.ts"
import type { LedgerEntry } from "../storage/traces/token-ledger.ts"
import type { SpecChoice, SpecTrajectory } from "../wire/engine/train.ts"

/** Entries of a project's completions by key. */
export type FindLedgerEntries = (projectId: string, keys: readonly string[]) => Promise<LedgerEntry[]>

export interface JobData {
  path: string
  sha256: string
}

/** Lines looked up at once, and their characters, but for a line that has more: they bound memory. */
const linesAtOnce = 64
const charactersAtOnce = 8 * 1024 * 1024
/** Characters parsed or printed in one turn of the event loop, which serves everybody; a line may have more. */
const charactersPerTurn = 1024 * 1024
/** A line without this text has no key, and is not parsed. */
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
      const parsed = await parseLines(lines)
      filled += await fillChoices(parsed.filter((trajectory) => trajectory !== null).flatMap(choicesWithKey), find)
      for (const text of printed(lines, parsed)) {
        hash.update(text)
        // `write` would write a part where the disk fills, and not say so.
        await file.appendFile(text)
      }
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
  let characters = 0
  for await (const line of linesOf(path)) {
    lines.push(line)
    characters += line.length
    if (lines.length < linesAtOnce && characters < charactersAtOnce) continue
    yield lines
    lines = []
    characters = 0
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

/** null: the line has no key. */
async function parseLines(lines: readonly string[]): Promise<(SpecTrajectory | null)[]> {
  const parsed: (SpecTrajectory | null)[] = []
  let characters = 0
  for (const line of lines) {
    parsed.push(line.includes(keyField) ? parseLine(line) : null)
    characters += line.length
    if (characters < charactersPerTurn) continue
    characters = 0
    await setImmediate()
  }
  return parsed
}

/** How many the ledger knows. */
async function fillChoices(
  choices: readonly ChoiceWithKey[],
  find: (keys: string[]) => Promise<LedgerEntry[]>,
): Promise<number> {
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
  return filled
}

/** Pieces of the text, each of some lines: filled, they may have many times the characters they had. */
function* printed(lines: readonly string[], parsed: readonly (SpecTrajectory | null)[]): Generator<string> {
  let text = ""
  for (const [place, line] of lines.entries()) {
    text += `${parsed[place] == null ? line : JSON.stringify(parsed[place])}\n`
    if (text.length < charactersPerTurn) continue
    yield text
    text = ""
  }
  if (text !== "") yield text
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

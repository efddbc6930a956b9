/**
 * Makes calls as a traced program sends them: a chat completion each, ten to a trace, about 2 KB of JSON.
 * The prose is a random walk over pairs of words of this project's own pages, one word in five taken
 * from anywhere, so that it compresses no better than prose does. The same seed gives the same calls.
 */
import { globSync, readFileSync } from "node:fs"
import { fromRoot } from "./paths.ts"

export const callsPerTrace = 10

export interface BenchCall {
  /** Position in its trace: 0 is the root, the others are its children. */
  place: number
  startedAt: Date
  seconds: number
  attributes: object
  inputs: object
  output: object
  summary: object
}

/** Returns numbers from 0 to below 1. */
export type Random = () => number

/** The generator xorshift32. */
export function seededRandom(seed: number): Random {
  let state = seed
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

export function hexadecimal(random: Random, digits: number): string {
  return Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join("")
}

export class CallCorpus {
  readonly #random: Random
  readonly #words: string[]
  /** Maps a pair of words to the positions of the words that follow it. */
  readonly #after = new Map<string, number[]>()
  #made = 0

  constructor(random: Random) {
    this.#random = random
    // That page is left out because it names the needle, a word that one call alone may contain; see read-cases.ts.
    const guides = globSync("docs/**/*.md", { cwd: fromRoot(), exclude: ["docs/benchmarks.md"] })
    const pages = [...guides, "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]
    this.#words = pages.flatMap((page) => readFileSync(fromRoot(page), "utf8").split(/\s+/).filter(isSendable))
    for (let at = 2; at < this.#words.length; at++) {
      const pair = `${this.#words[at - 2]} ${this.#words[at - 1]}`
      this.#after.set(pair, [...(this.#after.get(pair) ?? []), at])
    }
  }

  next(): BenchCall {
    const prompt_tokens = 50 + this.#below(900)
    const completion_tokens = 20 + this.#below(300)
    const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
    return {
      place: this.#made++ % callsPerTrace,
      startedAt: new Date(Date.UTC(2026, 0, 1) + this.#made * 40 + this.#below(40)),
      seconds: this.#random() * 3,
      attributes: { weave: environment },
      inputs: this.#inputs(),
      output: this.#output(usage),
      summary: { usage: { "gpt-4o-mini": { requests: 1, ...usage } }, status_counts: { success: 1, error: 0 } },
    }
  }

  #inputs(): object {
    const system = { role: "system", content: "You are a helpful assistant. Answer in a few sentences." }
    const temperature = Math.round(this.#random() * 100) / 100
    return {
      model: "gpt-4o-mini",
      messages: [system, { role: "user", content: this.#prose(500) }],
      temperature,
      max_tokens: 256,
    }
  }

  #output(usage: object): object {
    const message = { role: "assistant", content: this.#prose(450), refusal: null }
    const id = `chatcmpl-${hexadecimal(this.#random, 24)}`
    return { id, choices: [{ index: 0, message, finish_reason: "stop" }], usage }
  }

  #prose(characters: number): string {
    const picked = [this.#anyWord(), this.#anyWord()]
    for (let length = 0; length < characters; length += (picked.at(-1)?.length ?? 0) + 1) {
      const after = this.#after.get(`${picked.at(-2)} ${picked.at(-1)}`)
      const word =
        after === undefined || this.#random() < 0.2 ? null : this.#words[after[this.#below(after.length)] ?? 0]
      picked.push(word ?? this.#anyWord())
    }
    return picked.join(" ").slice(0, characters)
  }

  #anyWord(): string {
    return this.#words[this.#below(this.#words.length)] ?? ""
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }
}

/** The Python client's attributes about the machine that it runs on. */
const environment = {
  client_version: "0.54.0",
  source: "python-sdk",
  os_name: "Linux",
  os_version: "#52-Ubuntu SMP PREEMPT_DYNAMIC",
  os_release: "6.8.0-52-generic",
  sys_version: "3.12.8 (main, Dec  4 2025, 20:37:48) [GCC 13.3.0]",
}

/** A server refuses addresses of its inside, which the contracts show. */
const isSendable = (word: string) => word !== "" && !word.includes("weave-trace-internal:")

/**
 * Messages and tools of a trajectory with their numbers as the client wrote them (law 3): a template
 * renders `1.0` and `1` differently, and the prompt must be the one that was sampled from.
 */
import { holdsNumber, parseExact } from "../../json/exact-json.ts"
import { type ContainerKind, type JsonPath, JsonSplitter, type SplitHandler } from "../../json/json-splitter.ts"
import type { History, Trajectory } from "../../wire/training/trajectory.ts"

type Turns = Pick<History, "messages_and_choices" | "tools">
type Item = History["messages_and_choices"][number]

/** `trajectory`, or a copy with exact messages and tools when they hold a number. `bytes` is its JSON. */
export function exactHistories(trajectory: Trajectory, bytes: Buffer): Trajectory {
  if (![trajectory, ...trajectory.additional_histories].some(holdsNumbers)) return trajectory
  const parts = new ExactParts(trajectory)
  const splitter = new JsonSplitter(parts, bytes.length)
  splitter.write(bytes)
  splitter.end()
  return parts.applied()
}

function holdsNumbers({ messages_and_choices, tools }: Turns): boolean {
  return holdsNumber(tools) || messages_and_choices.some((item) => holdsNumber(messageOf(item)))
}

function messageOf(item: Item): object {
  return "choice" in item ? item.choice.message : item.message
}

/** Picks messages and tools out of a trajectory's text, past the token lists, which are most of it. */
class ExactParts implements SplitHandler {
  readonly #trajectory: Trajectory
  readonly #parts = new Map<string, unknown>()

  constructor(trajectory: Trajectory) {
    this.#trajectory = trajectory
  }

  enter(path: JsonPath, kind: ContainerKind): boolean {
    if (path.length === 0) return true
    if (path[0] === "additional_histories" && path.length <= 2) return true
    const [field, index, ...deeper] = withinHistory(path)
    if (field !== "messages_and_choices" || deeper.length > 0) return false
    return index === undefined ? kind === "array" : this.#isChoice(path)
  }

  value(path: JsonPath, bytes: Buffer): void {
    const [field, index, key, ...deeper] = withinHistory(path)
    const isTools = field === "tools" && index === undefined
    const isMessage = field === "messages_and_choices" && index !== undefined && (key ?? "message") === "message"
    if ((isTools || isMessage) && deeper.length === 0)
      this.#parts.set(path.join("/"), parseExact(bytes.toString("utf8")))
  }

  leave(): void {}

  applied(): Trajectory {
    const additional_histories = this.#trajectory.additional_histories.map((history, index) => ({
      ...history,
      ...this.#turns(history, `additional_histories/${index}/`),
    }))
    return { ...this.#trajectory, ...this.#turns(this.#trajectory, ""), additional_histories }
  }

  #turns({ messages_and_choices, tools }: Turns, prefix: string): Turns {
    const items = messages_and_choices.map((item, index) => {
      const at = `${prefix}messages_and_choices/${index}`
      if (!("choice" in item)) return { message: this.#part(at, item.message) }
      return { choice: { ...item.choice, message: this.#part(`${at}/message`, item.choice.message) } }
    })
    return { messages_and_choices: items, tools: this.#part(`${prefix}tools`, tools) }
  }

  #part<T>(path: string, parsed: T): T {
    return (this.#parts.get(path) as T | undefined) ?? parsed
  }

  #isChoice(path: JsonPath): boolean {
    const history =
      path[0] === "additional_histories" ? this.#trajectory.additional_histories[Number(path[1])] : this.#trajectory
    const item = history?.messages_and_choices[Number(path.at(-1))]
    return item !== undefined && "choice" in item
  }
}

function withinHistory(path: JsonPath): JsonPath {
  return path[0] === "additional_histories" ? path.slice(2) : path
}

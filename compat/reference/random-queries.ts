/** Random calls and queries over them, the same for the same seed. */

export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** From 0 to below 1 (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }
}

const strings = ["", "a", "b", "abc", "Hello there", "10", "2.5", "true", "ünï", "quote ' and \"", "line\nend", "%", "null"]
const numbers = [0, 1, -1, 2.5, 10, 100, 1e6, -0.25]
const keys = ["n", "s", "flag", "nested", "list", "maybe", "key with space"]

function randomLeaf(random: Random): unknown {
  return random.pick<() => unknown>([
    () => random.pick(strings),
    () => random.pick(numbers),
    () => random.chance(0.5),
    () => null,
  ])()
}

function randomObject(random: Random, depth: number): Record<string, unknown> {
  const some = keys.filter(() => random.chance(0.6))
  return Object.fromEntries(
    some.map((key) => {
      if (key === "nested" && depth > 0) return [key, randomObject(random, depth - 1)]
      if (key === "list") return [key, Array.from({ length: random.below(3) }, () => randomLeaf(random))]
      return [key, randomLeaf(random)]
    }),
  )
}

/** Complete calls, each at its own time; a few of them children of earlier ones. */
export function randomCalls(random: Random, project_id: string, count: number) {
  const traces = ["t-0", "t-1", "t-2"]
  return Array.from({ length: count }, (_, index) => ({
    project_id,
    id: `c-${String(index).padStart(3, "0")}`,
    trace_id: random.pick(traces),
    parent_id: random.chance(0.5) || index === 0 ? null : `c-${String(random.below(index)).padStart(3, "0")}`,
    thread_id: random.pick([null, "th-1", "th-2"]),
    op_name: random.pick(["plain", "other", "third op"]),
    display_name: random.pick([null, "shown", "Shown Too"]),
    started_at: new Date(Date.UTC(2026, 0, 1) + random.below(1e9) * 10 + index).toISOString(),
    ended_at: new Date(Date.UTC(2026, 1, 1) + random.below(1e6) * 1000).toISOString(),
    exception: random.pick([null, null, "boom"]),
    attributes: randomObject(random, 1),
    inputs: randomObject(random, 2),
    output: random.chance(0.3) ? randomLeaf(random) : randomObject(random, 1),
    summary: random.chance(0.3) ? { status_counts: { error: random.below(2), success: 1 } } : {},
    wb_run_step: random.pick([null, 1, 2, 30]),
  }))
}

const columns = ["id", "op_name", "display_name", "trace_id", "parent_id", "thread_id", "exception"]

function randomPath(random: Random): string {
  const path = [random.pick(["inputs", "inputs", "output", "attributes"]), random.pick(keys)]
  if (path[1] === "nested") path.push(random.pick(keys))
  if (path.at(-1) === "list") path.push(String(random.below(3)))
  return path.join(".")
}

/** An expression whose comparisons are between a field and a literal. */
export function randomExpression(random: Random, depth: number): Record<string, unknown> {
  if (depth > 0 && random.chance(0.5)) {
    const inner = () => randomExpression(random, depth - 1)
    return random.pick<() => Record<string, unknown>>([
      () => ({ $and: [inner(), inner()] }),
      () => ({ $or: [inner(), inner()] }),
      () => ({ $not: [inner()] }),
    ])()
  }
  const isColumn = random.chance(0.25)
  const field = { $getField: isColumn ? random.pick(columns) : randomPath(random) }
  const literal = () => ({ $literal: isColumn ? random.pick(["c-005", "plain", "shown", "t-1", "boom"]) : randomLeaf(random) })
  const operator = random.pick(["$eq", "$eq", "$gt", "$gte", "$lt", "$lte", "$in", "$contains"])
  if (operator === "$in") return { $in: [field, [literal(), literal()]] }
  if (operator === "$contains") {
    return { $contains: { input: field, substr: { $literal: random.pick(strings.slice(1)) }, case_insensitive: random.chance(0.3) } }
  }
  const value = literal()
  return operator !== "$eq" && value.$literal === null ? { $eq: [field, value] } : { [operator]: [field, value] }
}

export function randomFilter(random: Random): Record<string, unknown> {
  const members: Record<string, unknown> = {
    op_names: [random.pick(["plain", "other", "nowhere"]), "third op"],
    trace_ids: [random.pick(["t-0", "t-1"])],
    parent_ids: ["c-000", "c-001", "c-002", "c-003"],
    call_ids: Array.from({ length: 20 }, () => `c-${String(random.below(60)).padStart(3, "0")}`),
    thread_ids: ["th-1"],
    trace_roots_only: random.chance(0.5),
  }
  return Object.fromEntries(Object.entries(members).filter(() => random.chance(0.2)))
}

/**
 * Attacks by which one ordinary key could hold up everybody, from a review of the server's security (H1 to H8, M1).
 * The tests carry out each attack in its small form, `npm run bench -- attacks` in full.
 */

export type Size = "full" | "small"

export interface Team {
  /** Name of the team and of its only member. */
  name: string
  key: string
  /** The project's full name, `TEAM/PROJECT`. */
  project: string
}

/** The server, the attacker and the folder of base models for an attack. */
export interface Ground {
  url: string
  attacker: Team
  /** Folder with the base models of `hostile-bases.ts`. */
  bases: string
}

/** The client's behaviour after it has sent its request. */
export type Manner = "reads" | "leaves" | "does not read" | "does not end its body" | "does not end its head"

export interface AttackRequest {
  path: string
  /** A function makes another body for each turn, for requests that would be answered from a cache otherwise. */
  body: Buffer | ((turn: number) => Buffer)
  headers?: Readonly<Record<string, string>>
  /** By default the client reads the answer. */
  manner?: Manner
}

export interface Attack {
  /** The finding, with the kind of attack where there are several: `H5-leaving`. */
  name: string
  /** Says in words what the attacker sends. */
  does: string
  /** True for an attack on the engine, during which the other team chats as well. */
  onChat?: boolean
  /** Statuses that the attacker may get, besides 429 and 503. */
  answers: readonly number[]
  /**
   * How long the small form lasts. "a while": the server works on it for seconds. "until left": the server keeps these
   * connections for long by design, and the attack ends when the attacker leaves.
   */
  lasts: "shortly" | "a while" | "until left"
  /** The shortest useful time of the full attack. */
  minimumSeconds?: number
  /** Stores what the attack needs, and returns one request for each connection, to be sent at the same time. */
  requests: (ground: Ground, size: Size) => Promise<AttackRequest[]>
}

/** A number for each size of the attack. */
export type BySize = Readonly<Record<Size, number>>

export function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}

/** A list of `count` things, each made by `one`. */
export function times<T>(count: number, one: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => one(index))
}

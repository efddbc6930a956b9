/**
 * What one ordinary key could do to hold up everybody, from a review of the server's security (H1 to H8, M1).
 * The tests carry out each attack in its small form, `npm run bench -- attacks` in full.
 */

export type Size = "full" | "small"

export interface Team {
  /** Of the team and of its only member. */
  name: string
  key: string
  /** TEAM/PROJECT */
  project: string
}

/** Where an attack is carried out. */
export interface Ground {
  url: string
  attacker: Team
  /** Holds the base models of `hostile-bases.ts`. */
  bases: string
}

/** What a client does with its connection after it has sent what it sends. */
export type Manner = "reads" | "leaves" | "does not read" | "does not end its body" | "does not end its head"

export interface AttackRequest {
  path: string
  /** A function: another body at each turn, where the same one would be answered from a cache. */
  body: Buffer | ((turn: number) => Buffer)
  headers?: Readonly<Record<string, string>>
  /** By default it reads. */
  manner?: Manner
}

export interface Attack {
  /** The finding, and which of its ways: `H5-leaving`. */
  name: string
  /** What the attacker sends. */
  does: string
  /** It is aimed at the engine: the other team chats as well. */
  onChat?: boolean
  /** What the attacker may be answered with, besides 429 and 503. */
  answers: readonly number[]
  /**
   * In the small form. A while: the server works on it for seconds. Until left: the server keeps these connections for long by
   * design, and the attack ends when the attacker leaves.
   */
  lasts: "shortly" | "a while" | "until left"
  /** The full attack shows less in a shorter time. */
  minimumSeconds?: number
  /** Stores what the attack needs, and returns one request for each connection, to be sent at the same time. */
  requests: (ground: Ground, size: Size) => Promise<AttackRequest[]>
}

/** How many, by the size of the attack. */
export type BySize = Readonly<Record<Size, number>>

export function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}

/** `count` times the same. */
export function times<T>(count: number, one: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => one(index))
}

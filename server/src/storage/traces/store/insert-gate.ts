/** A gate that inserts pass together, and that is closed while a backup takes all that is stored at one moment. */
export class InsertGate {
  #inside = 0
  #closed: Promise<void> | null = null
  #emptied: () => void = () => undefined

  /** Waits while the gate is closed. */
  async pass<T>(insert: () => Promise<T>): Promise<T> {
    while (this.#closed !== null) await this.#closed
    this.#inside += 1
    try {
      return await insert()
    } finally {
      this.#inside -= 1
      if (this.#inside === 0) this.#emptied()
    }
  }

  /** Closes the gate, waits for the inserts inside, and opens it when `work` has settled. One at a time. */
  async closed<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed !== null) throw new Error("the gate is closed already")
    const { promise, resolve: open } = Promise.withResolvers<void>()
    this.#closed = promise
    try {
      if (this.#inside > 0) await new Promise<void>((emptied) => (this.#emptied = emptied))
      return await work()
    } finally {
      this.#closed = null
      this.#emptied = () => undefined
      open()
    }
  }
}

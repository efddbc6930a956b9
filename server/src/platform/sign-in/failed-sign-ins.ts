/** How often an address has failed to sign in lately. Kept in memory: each server of several counts for itself. */
import { HeddleError } from "../../errors.ts"

/** A key or a token, and a name. Whoever sends this need have neither, and the thread that serves everybody parses it. */
export const mostSignInBytes = 16 * 1024

const windowMs = 60_000
/** With more addresses, those that failed longest ago are forgotten. */
const mostAddresses = 10_000

export class FailedSignIns {
  readonly #mostInWindow: number
  /** Times of the failures of each address; the address that failed last comes last. */
  readonly #failures = new Map<string, number[]>()

  constructor(mostInWindow: number) {
    this.#mostInWindow = mostInWindow
  }

  /**
   * Runs a sign-in, unless its address has failed too often.
   * @throws {HeddleError} 429; and what the sign-in throws, of which a 401 is counted.
   */
  async attempt<T>(address: string, signIn: () => Promise<T>): Promise<T> {
    const recent = this.#recent(address)
    const oldest = recent.at(-this.#mostInWindow)
    if (oldest !== undefined) {
      const retryAfterMs = oldest + windowMs - Date.now()
      const message = `${this.#mostInWindow} sign-ins from ${address} failed within a minute; try again a little later`
      throw new HeddleError("rate_limit_exceeded", message, { retryAfterMs })
    }
    try {
      return await signIn()
    } catch (error) {
      if (error instanceof HeddleError && error.status === 401) this.#count(address)
      throw error
    }
  }

  #recent(address: string): number[] {
    const since = Date.now() - windowMs
    return (this.#failures.get(address) ?? []).filter((time) => time > since)
  }

  #count(address: string): void {
    const times = [...this.#recent(address), Date.now()]
    this.#failures.delete(address)
    this.#failures.set(address, times)
    const [first] = this.#failures.keys()
    if (this.#failures.size > mostAddresses && first !== undefined) this.#failures.delete(first)
  }
}

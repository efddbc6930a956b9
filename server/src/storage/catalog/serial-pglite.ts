/**
 * PGlite has one session. Kysely's own driver hands that session to everyone at once, so that a
 * query made while another caller's transaction is open would run inside it and vanish with its
 * rollback. This dialect lends the session to one caller at a time.
 */
import { type DatabaseConnection, PGliteDialect, PGliteDriver, type PGliteDialectConfig } from "kysely"

export class SerialPGliteDialect extends PGliteDialect {
  readonly #config: PGliteDialectConfig

  constructor(config: PGliteDialectConfig) {
    super(config)
    this.#config = config
  }

  override createDriver(): PGliteDriver {
    return new SerialPGliteDriver(this.#config)
  }
}

class SerialPGliteDriver extends PGliteDriver {
  #lastLoan: Promise<void> = Promise.resolve()
  #endLoan: () => void = () => {}

  override async acquireConnection(): Promise<DatabaseConnection> {
    const previous = this.#lastLoan
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#lastLoan = promise
    await previous
    this.#endLoan = resolve
    return super.acquireConnection()
  }

  override async releaseConnection(): Promise<void> {
    this.#endLoan()
  }
}

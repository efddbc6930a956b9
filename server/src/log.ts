/** Where the server writes what happened. */
export interface Log {
  info(object: object, message: string): void
  warn(object: object, message: string): void
  error(object: object, message: string): void
}

/** For what writes failures alone. */
export type ErrorLog = Pick<Log, "error">

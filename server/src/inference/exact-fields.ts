/** Parts of a request that the engine gets as the client wrote them (law 3). */

/**
 * `body` with `fields` taken from the same body parsed exactly. The schema has checked their shape;
 * the numbers in them are opaque here, and only the engine reads them.
 */
export function withExactFields<T extends object>(body: T, exactBody: () => unknown, fields: readonly (keyof T)[]): T {
  const exact = exactBody() as T
  const taken = fields.filter((field) => exact[field] !== undefined).map((field) => [field, exact[field]] as const)
  return { ...body, ...Object.fromEntries(taken) }
}

/** JSON whose numbers `JSON.stringify` writes as they came. Old browsers know no spellings: there it is `JSON.parse`. */

/**
 * A number that would be written otherwise, such as `1.0` or an integer past 2^53, becomes an opaque value.
 * @throws {SyntaxError} for a text that is no JSON.
 */
export function parseExact(text: string): unknown {
  return JSON.parse(text, (_, value: unknown, context?: { source?: string }) => {
    const source = context?.source
    return typeof value === "number" && source !== undefined && String(value) !== source ? JSON.rawJSON(source) : value
  })
}

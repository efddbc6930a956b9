/** How long a text is to Python, and to ClickHouse's UTF-8 functions: in code points, not in UTF-16 units. */
export function codePoints(text: string): number {
  return Array.from(text).length
}

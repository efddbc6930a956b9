/**
 * A name as a header says it: letters that no header carries come percent-encoded. Where a `%` stands for none of those, the
 * name is meant as it stands.
 */
export function headerText(header: string): string {
  if (!header.includes("%")) return header
  try {
    const decoded = decodeURIComponent(header)
    return /^[ -~]*$/.test(decoded) ? header : decoded
  } catch {
    return header
  }
}

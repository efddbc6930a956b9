/** For texts that people and programs made: PostgreSQL's text has no U+0000, which messages of errors do carry. */
export function storableText(text: string): string {
  return text.replaceAll("\0", "\ufffd")
}

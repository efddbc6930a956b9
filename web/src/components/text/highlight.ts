/** Colours of short code samples: strings, comments and keywords of Python and shell. It is no parser, because all samples are our own. */

export type CodePart = "plain" | "string" | "comment" | "keyword"

const keywords = "from|import|as|def|return|await|async|class|for|in|if|else|with|export|const|new"
const pattern = new RegExp(
  String.raw`(?<comment>(?:^|(?<=\s))#[^\n]*)|(?<string>"[^"\n]*"|'[^'\n]*')|\b(?<keyword>${keywords})\b`,
  "gm",
)

export function highlight(code: string): { part: CodePart; text: string }[] {
  const parts: { part: CodePart; text: string }[] = []
  let end = 0
  for (const match of code.matchAll(pattern)) {
    if (match.index > end) parts.push({ part: "plain", text: code.slice(end, match.index) })
    const part = (Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0] ?? "plain") as CodePart
    parts.push({ part, text: match[0] })
    end = match.index + match[0].length
  }
  if (end < code.length) parts.push({ part: "plain", text: code.slice(end) })
  return parts
}

/**
 * What a pattern of a user costs PostgreSQL, which writes counted repeats out before it matches: `((.{0,10}){0,10}){0,10}` is a
 * thousand characters. Nothing ends that in the embedded catalog, which has no other thread: platform-wandb 10.
 */

/** Of the pattern written out. What is anchored costs far more, since PostgreSQL tries each way to join the anchors. */
interface Cost {
  characters: number
  anchors: number
}

const most: Cost = { characters: 200, anchors: 4 }

/** Back-references and look-around are found by trying all ways. All else is matched in one pass. */
const triesAll = /(?<!\\)(?:\\\\)*(?:\\[1-9]|\(\?<?[=!])/
/** Options that leave the form of a pattern as it is. */
const options = /^\(\?[cimnpstw]+\)/
const counted = /^\{(\d+)(?:,(\d*))?\}/

/** Why the pattern is refused, as the end of a sentence; null: it costs little. */
export function patternFault(pattern: string): string | null {
  if (triesAll.test(pattern)) return "takes no back-references and no look-around"
  const rest = pattern.replace(options, "")
  if (rest.startsWith("***") || /(?<!\\)(?:\\\\)*\(\?(?!:)/.test(rest)) {
    return "takes groups as (…) and (?:…), and the options (?i), (?n) and their like at its start"
  }
  const { characters, anchors } = costOf(rest)
  if (characters > most.characters) {
    return `is at most ${most.characters} characters long with its counted repeats written out, as "aaa" for "a{3}"`
  }
  return anchors > most.anchors ? `has at most ${most.anchors} of ^ $ \\A \\Z \\m \\M \\y \\Y` : null
}

function costOf(pattern: string): Cost {
  const outer: Cost[] = []
  let group: Cost = { characters: 0, anchors: 0 }
  /** What a repeat that comes next is of. */
  let last: Cost = { characters: 0, anchors: 0 }
  const add = (part: Cost) => {
    last = part
    group = { characters: group.characters + part.characters, anchors: group.anchors + part.anchors }
  }
  for (let at = 0; at < pattern.length;) {
    const token = tokenAt(pattern, at)
    at += token.length
    if (token === "(" || token === "(?:") {
      outer.push(group)
      group = { characters: 0, anchors: 0 }
    } else if (token === ")" && outer.length > 0) {
      const whole = { ...group, characters: group.characters + 1 }
      group = outer.pop() as Cost
      add(whole)
    } else if (isRepeat(token)) {
      const more = timesOf(token) - 1
      add({ characters: last.characters * more, anchors: last.anchors * more })
    } else add(isAnchor(token) ? { characters: 0, anchors: 1 } : { characters: 1, anchors: 0 })
  }
  // Groups that nothing closes: PostgreSQL refuses the pattern.
  return [...outer, group].reduce((sum, { characters, anchors }) => ({
    characters: sum.characters + characters,
    anchors: sum.anchors + anchors,
  }))
}

function isRepeat(token: string): boolean {
  return token === "+" || counted.test(token)
}

/** How often PostgreSQL writes out what is repeated: `a+` as `aa*`. */
function timesOf(repeat: string): number {
  const [, least, greatest] = counted.exec(repeat === "+" ? "{1,}" : repeat) ?? []
  return Math.max(greatest === "" ? Number(least) + 1 : Number(greatest ?? least), 1)
}

function isAnchor(token: string): boolean {
  return /^(?:[$^]|\\[AZmMyY]|\[\[:[<>]:\]\])$/.test(token)
}

function tokenAt(pattern: string, at: number): string {
  if (pattern[at] === "\\") return pattern.slice(at, at + 2)
  if (pattern[at] === "[") return pattern.slice(at, endOfBracket(pattern, at))
  const rest = pattern.slice(at)
  return (counted.exec(rest) ?? /^\(\?:/.exec(rest))?.[0] ?? rest.slice(0, 1)
}

/** Behind the bracket that closes the one at `from`. */
function endOfBracket(pattern: string, from: number): number {
  let at = from + 1
  if (pattern[at] === "^") at++
  // The first one is a character like any other.
  if (pattern[at] === "]") at++
  while (at < pattern.length && pattern[at] !== "]") {
    const named = pattern[at] === "[" ? /^\[([:.=]).*?\1\]/s.exec(pattern.slice(at)) : null
    at += named?.[0].length ?? (pattern[at] === "\\" ? 2 : 1)
  }
  return at + 1
}

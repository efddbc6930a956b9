/**
 * Fields to learn from, as samples of what rows hold show them: a number, a yes or no, or one of few words scores an answer,
 * and any other text may take its place.
 */

export interface FoundField {
  path: string
  isScored: boolean
  /** It may be what should have been answered. */
  isText: boolean
  /** Texts that count nothing until somebody says what. */
  words: readonly string[]
  /** An answer to learn counts 1: of yes and no, or of words. */
  isOfOnes: boolean
}

interface Sample {
  /** Where the value is: `feedback.[tone].payload`. */
  path: string
  value: unknown
}

interface Feedback {
  feedback_type: string
  payload: Record<string, unknown>
}

/** Members of members of members. */
const deepest = 3
const mostFields = 40
/** More of them, or longer ones, are no choice that somebody had. */
const mostWords = 8
const longestWord = 40

/** By their paths; of very many those that most samples have. */
export function foundFields(samples: readonly Sample[]): FoundField[] {
  const found = new Map<string, unknown[]>()
  const walk = (path: string, value: unknown, depth: number) => {
    if (value === null || value === undefined || value === "" || Array.isArray(value)) return
    if (typeof value !== "object") {
      const values = found.get(path)
      if (values === undefined) found.set(path, [value])
      else values.push(value)
      return
    }
    if (depth === deepest) return
    for (const [name, inner] of Object.entries(value)) {
      // What else stands in a name would have to be escaped in its path.
      if (/^[\w-]+$/.test(name)) walk(`${path}.${name}`, inner, depth + 1)
    }
  }
  for (const { path, value } of samples) walk(path, value, 0)
  return [...found]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .slice(0, mostFields)
    .map(([path, values]) => fieldOf(path, values))
    .filter(({ isScored, isText }) => isScored || isText)
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))
}

function fieldOf(path: string, values: readonly unknown[]): FoundField {
  const texts = values.filter((value) => typeof value === "string")
  const different = new Set(texts)
  const words = [...different].filter((text) => !isCounted(text)).toSorted()
  // A comma ends a word where the form lists what words count.
  const isShort = (text: string) => text.length <= longestWord && !text.includes(",")
  const areWords = words.length <= mostWords && words.every(isShort)
  const hasOthers = texts.length < values.length
  return {
    path,
    isScored: areWords || hasOthers,
    // A writer of an answer does not write the same one twice.
    isText: texts.length > 0 && different.size === texts.length,
    words: areWords ? words : [],
    isOfOnes: hasOthers ? values.every((value) => typeof value === "boolean") : areWords && words.length > 0,
  }
}

/** The server reads a number, true and false in a text, too. */
function isCounted(text: string): boolean {
  return text === "true" || text === "false" || (text.trim() !== "" && Number.isFinite(Number(text)))
}

/** Notes, reactions and votes say nothing that a score could be made of, and a type with these signs cannot be named in one. */
const unfit = /^(?:wandb\.(?:note|reaction)|playground\.vote)|[\],*]/

export function feedbackSamples(feedback: readonly Feedback[]): Sample[] {
  return feedback.flatMap(({ feedback_type: type, payload }): Sample[] => {
    if (unfit.test(type)) return []
    const path = `feedback.[${type}].payload`
    const [part] = /^wandb\.(?:runnable|annotation)\./.exec(type) ?? []
    if (part === undefined) return [{ path, value: payload }]
    const name = part === "wandb.runnable." ? "output" : "value"
    return [{ path: `${path}.${name}`, value: payload[name] }]
  })
}

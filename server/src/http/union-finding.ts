/**
 * What is wrong with a value that may have one of several forms. zod says of it "Invalid input" and what each form lacks;
 * whoever sent the value meant one of them.
 */
import type { z } from "zod"

export interface Finding {
  path: readonly PropertyKey[]
  message: string
  code: string
  input: unknown
}

/** A finding of one form. `wanted`: what might stand there instead, where the value is of another kind altogether. */
interface FormFinding extends Finding {
  wanted: readonly string[] | null
}

const longestName = 100
/** What zod says where the schema has no words of its own for what the value may be. */
const unsaid = "Invalid input"

export function findingOf(issue: z.core.$ZodIssue): Finding {
  return formFinding(issue)
}

function formFinding(issue: z.core.$ZodIssue): FormFinding {
  const { path, message, code, input } = issue
  if (issue.code === "invalid_key") {
    const [ofKey] = issue.issues.map(formFinding)
    if (ofKey !== undefined) return { ...ofKey, path: [...path, ...ofKey.path] }
  }
  if (issue.code !== "invalid_union" || issue.errors.length === 0) {
    return { path, message, code, input: inputAt(issue), wanted: wantedBy(issue) }
  }
  const forms = issue.errors.map((errors) => errors.map(formFinding))
  const inside = nearestForm(forms)
  if (inside !== null) return { ...inside, path: [...path, ...inside.path] }
  if (message !== unsaid) return { path, message, code, input, wanted: null }
  const whole = forms.flatMap((findings) => findings.find((finding) => finding.path.length === 0) ?? [])
  // The value is of the kind that this form is for, and wrong in another way.
  const meant = whole.find(({ wanted }) => wanted === null)
  if (meant !== undefined) return { ...meant, path }
  const wanted = [...new Set(whole.flatMap((finding) => finding.wanted ?? []))]
  const said = `Invalid input: expected ${listed(wanted)}${received(input, whole)}`
  return { path, message: said, code, input, wanted }
}

/** zod has the whole object where the member that tells its form does not, and the path of that member. */
function inputAt(issue: z.core.$ZodIssue): unknown {
  const member = issue.code === "invalid_union" ? issue.discriminator : undefined
  if (member === undefined || typeof issue.input !== "object" || issue.input === null) return issue.input
  return Object.hasOwn(issue.input, member) ? (issue.input as Record<string, unknown>)[member] : undefined
}

/** The first finding of the form of which least is wrong, among those that the value has from outside; null: it has none. */
function nearestForm(forms: readonly (readonly FormFinding[])[]): FormFinding | null {
  const possible = forms.filter((findings) => findings.every(({ path }) => path.length > 0))
  return possible.toSorted((one, other) => one.length - other.length)[0]?.[0] ?? null
}

function wantedBy(issue: z.core.$ZodIssue): string[] | null {
  if (issue.code === "invalid_type") return [issue.expected]
  return issue.code === "invalid_value" ? issue.values.map((value) => JSON.stringify(String(value))) : null
}

const listed = (names: readonly string[]) => names.join(", ").replace(/, ([^,]*)$/, " or $1")

/** zod says what type it received where it expected one. Of a text that is none of those it may be, more is told. */
function received(input: unknown, findings: readonly FormFinding[]): string {
  const isName = typeof input === "string" && input.length <= longestName
  if (isName && findings.some(({ code }) => code === "invalid_value")) return `, received ${JSON.stringify(input)}`
  const told = findings.map(({ message }) => / received [^,]+$/.exec(message)?.[0]).find((one) => one !== undefined)
  return told === undefined ? "" : `,${told}`
}

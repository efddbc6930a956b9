/** Somebody's answers so far about one item, and whether they can be sent. */
import { parseExact } from "../json/exact-json.ts"
import { isSame, type LabelField, wordOf } from "./label-fields.ts"

export interface Draft {
  /** By field: what was chosen, a list of it for `many`, what was typed for the others. */
  answers: Readonly<Record<string, unknown>>
  note: string
}

export const emptyDraft: Draft = { answers: {}, note: "" }

export function isEmpty({ answers, note }: Draft): boolean {
  return note.trim() === "" && Object.values(answers).every((answer) => answer === undefined || answer === "")
}

export type Answer = { kind: "none" } | { kind: "bad"; why: string } | { kind: "value"; value: unknown }

/** The answer to a field. */
export function answerOf(field: LabelField, { answers }: Draft): Answer {
  const given = answers[field.name]
  if (given === undefined) return { kind: "none" }
  if (field.kind === "choice") return { kind: "value", value: given }
  if (field.kind === "many") {
    return Array.isArray(given) && given.length > 0 ? { kind: "value", value: given } : { kind: "none" }
  }
  const text = typeof given === "string" ? given : ""
  if (text.trim() === "") return { kind: "none" }
  if (field.kind === "text") return { kind: "value", value: text }
  if (field.kind === "json") return jsonAnswer(text)
  return numberAnswer(field, text)
}

function jsonAnswer(text: string): Answer {
  try {
    return { kind: "value", value: parseExact(text) }
  } catch {
    return { kind: "bad", why: "This is no JSON." }
  }
}

/** `1,000` is a thousand to some and one to others. */
const thousands = /^[-+]?[1-9]\d{0,2}(?:,\d{3})+$/

function numberAnswer({ least, most, isWhole }: LabelField, typed: string): Answer {
  const text = typed.trim()
  if (thousands.test(text)) {
    const [all, part] = [text.replaceAll(",", ""), text.replace(",", ".")]
    return { kind: "bad", why: `“${text}” may be ${all} or ${part}: write it without the comma.` }
  }
  const number = Number(text.replace(",", "."))
  if (!Number.isFinite(number)) return { kind: "bad", why: `“${text}” is no number.` }
  if (isWhole && !Number.isInteger(number)) return { kind: "bad", why: "A whole number is asked for." }
  if (least !== null && number < least) return { kind: "bad", why: `At least ${least}.` }
  if (most !== null && number > most) return { kind: "bad", why: `At most ${most}.` }
  // Digits past 2^53 stay as they were written.
  return { kind: "value", value: /^-?[1-9]\d*$/.test(text) ? parseExact(text) : number }
}

/** A choice or a number must be given; what is written or ticked may be left out, but not everything. */
export function isRequired({ kind }: LabelField): boolean {
  return kind === "choice" || kind === "number"
}

/** Fields that keep the item from being submitted, in their order. */
export function openFields(fields: readonly LabelField[], draft: Draft): LabelField[] {
  const bad = fields.filter((field) => {
    const { kind } = answerOf(field, draft)
    return kind === "bad" || (kind === "none" && isRequired(field))
  })
  if (bad.length > 0 || fields.some((field) => answerOf(field, draft).kind === "value")) return bad
  return fields.slice(0, 1)
}

/** With an option chosen: of `many` put in or taken out, in the order of the options. */
export function withChoice(field: LabelField, draft: Draft, value: unknown): Draft {
  if (field.kind !== "many") return withAnswer(field, draft, value)
  const before = Array.isArray(draft.answers[field.name]) ? (draft.answers[field.name] as unknown[]) : []
  const isIn = before.some((one) => isSame(one, value))
  const next = field.options
    .map((option) => option.value)
    .filter((one) => (isSame(one, value) ? !isIn : before.some((chosen) => isSame(chosen, one))))
  return withAnswer(field, draft, next)
}

export function withAnswer({ name }: LabelField, draft: Draft, answer: unknown): Draft {
  return { ...draft, answers: { ...draft.answers, [name]: answer } }
}

export function isChosen(field: LabelField, { answers }: Draft, value: unknown): boolean {
  const given = answers[field.name]
  return Array.isArray(given) && field.kind === "many" ? given.some((one) => isSame(one, value)) : isSame(given, value)
}

/** In a line: "no, yes, 2". */
export function draftText(fields: readonly LabelField[], draft: Draft): string {
  const words = fields.flatMap((field) => {
    const answer = answerOf(field, draft)
    return answer.kind === "value" ? [wordOf(answer.value)] : []
  })
  return words.join(", ")
}

/** A question that somebody is writing, before it is an annotation spec. */

export const fieldShapes = {
  choice: "One of several words",
  many: "Any number of several words",
  yesno: "Yes or no",
  scale: "A scale",
  number: "A number",
  text: "Text",
} as const

export type FieldShape = keyof typeof fieldShapes

export interface FieldDraft {
  name: string
  rule: string
  shape: FieldShape
  /** A line each. */
  words: string
  least: string
  most: string
}

export const newField: FieldDraft = { name: "", rule: "", shape: "choice", words: "", least: "1", most: "5" }

/** Questions that most queues ask, with the words of the button that takes them. */
export const readyFields: readonly { words: string; field: FieldDraft }[] = [
  {
    words: "Is the answer right?",
    field: { ...newField, name: "right", shape: "yesno", rule: "Is the answer right?" },
  },
  {
    words: "What should it have said?",
    field: {
      ...newField,
      name: "better",
      shape: "text",
      rule: "What should it have said? Leave it empty where the answer is right.",
    },
  },
]

export function wordsOf({ words }: FieldDraft): string[] {
  return [...new Set(words.split("\n").map((word) => word.trim()))].filter((word) => word !== "")
}

/** Of each field its missing part as a sentence, or null if it can be made. `takenNames`: of the project's fields. */
export function fieldFaults(fields: readonly FieldDraft[], takenNames: readonly string[]): (string | null)[] {
  return fields.map((field, index) => {
    const before = fields.slice(0, index).find(({ name }) => objectName(name) === objectName(field.name))
    // The second would become a version of the first, and the queue would ask one question twice.
    const isTwice = before !== undefined && objectName(field.name) !== ""
    return fieldFault(field, takenNames) ?? (isTwice ? `“${before.name.trim()}” above has this name already.` : null)
  })
}

function fieldFault(field: FieldDraft, takenNames: readonly string[]): string | null {
  const { name, shape } = field
  if (name.trim() === "") return "Give the question a name."
  if (objectName(name) === "") return `“${name.trim()}” has no letter or digit that a name could be made of.`
  if (takenNames.includes(objectName(name)))
    return `The project has a field “${objectName(name)}” already; choose it above.`
  if ((shape === "choice" || shape === "many") && wordsOf(field).length < 2)
    return "Write two words or more, a line each."
  if (shape === "scale") {
    const [least, most] = [Number(field.least), Number(field.most)]
    if (!Number.isInteger(least) || !Number.isInteger(most) || most <= least)
      return "A scale goes from one whole number up to another."
  }
  return null
}

/** Names of objects have letters, digits, `.`, `_` and `-`. */
export function objectName(name: string): string {
  return name
    .trim()
    .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 128)
}

export function fieldSchema(field: FieldDraft): object {
  switch (field.shape) {
    case "choice":
      return { type: "string", enum: wordsOf(field) }
    case "many":
      return { type: "array", items: { type: "string", enum: wordsOf(field) }, uniqueItems: true }
    case "yesno":
      return { type: "boolean" }
    case "scale":
      return { type: "integer", minimum: Number(field.least), maximum: Number(field.most) }
    case "number":
      return { type: "number" }
    case "text":
      return { type: "string" }
  }
}

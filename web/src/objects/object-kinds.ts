/** The kinds of objects, as the interface sorts them. Classes that it does not know are kinds of their own. */

export interface ObjectKind {
  /** In addresses. */
  id: string
  /** A plural. */
  name: string
  noun: string
}

interface Classified {
  kind: "object" | "op"
  base_object_class: string | null
}

const ofClass: Readonly<Record<string, ObjectKind>> = {
  Dataset: { id: "datasets", name: "Datasets", noun: "dataset" },
  Prompt: { id: "prompts", name: "Prompts", noun: "prompt" },
  Model: { id: "models", name: "Models", noun: "model" },
  Scorer: { id: "scorers", name: "Scorers", noun: "scorer" },
  Evaluation: { id: "evaluations", name: "Evaluations", noun: "evaluation" },
  Leaderboard: { id: "leaderboards", name: "Leaderboards", noun: "leaderboard" },
  ScoringRule: { id: "scoring-rules", name: "Scoring rules", noun: "scoring rule" },
  AnnotationSpec: { id: "questions", name: "Questions", noun: "question" },
}
const ops: ObjectKind = { id: "ops", name: "Ops", noun: "op" }
const plain: ObjectKind = { id: "values", name: "Values", noun: "value" }
const known = [...Object.values(ofClass), ops]

export function kindOfObject({ kind, base_object_class: base }: Classified): ObjectKind {
  if (kind === "op") return ops
  if (base === null) return plain
  // A class may be called "constructor".
  return Object.hasOwn(ofClass, base) ? (ofClass[base] as ObjectKind) : { id: base, name: base, noun: base }
}

/** The API's filter for a kind, or null if it has none. */
export function filterOfKind(id: string): { is_op: true } | { base_object_classes: string[]; is_op: false } | null {
  if (id === ops.id) return { is_op: true }
  if (id === plain.id) return null
  const entry = Object.entries(ofClass).find(([, kind]) => kind.id === id)
  return { base_object_classes: [entry?.[0] ?? id], is_op: false }
}

/** The name of a kind, whether or not it has objects. */
export function nameOfKind(id: string): string {
  return [...known, plain].find((kind) => kind.id === id)?.name ?? id
}

/** The kinds of these objects, each with their number; classes of the SDK come first. `open` is listed even with none. */
export function countKinds(objects: readonly Classified[], open?: string): (ObjectKind & { count: number })[] {
  const counts = new Map<string, ObjectKind & { count: number }>()
  if (open !== undefined) counts.set(open, { id: open, name: nameOfKind(open), noun: open, count: 0 })
  for (const object of objects) {
    const kind = kindOfObject(object)
    counts.set(kind.id, { ...kind, count: (counts.get(kind.id)?.count ?? 0) + 1 })
  }
  const place = ({ id }: ObjectKind) => {
    const index = known.findIndex((kind) => kind.id === id)
    return index === -1 ? known.length : index
  }
  return [...counts.values()].toSorted((a, b) => place(a) - place(b) || a.name.localeCompare(b.name))
}

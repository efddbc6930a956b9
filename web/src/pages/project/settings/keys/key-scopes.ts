/** Scopes of keys, in words. */
import type { KeyScope } from "@heddle/server/wire/platform/access.ts"

export const keyScopes: readonly KeyScope[] = ["all", "ingest", "read", "label", "train"]

export const scopeWords: Record<KeyScope, { name: string; hint: string }> = {
  all: { name: "everything", hint: "Whatever its owner may do: for a person." },
  ingest: { name: "sending", hint: "Adds calls, objects, spans and runs; reads nothing back and deletes nothing." },
  read: { name: "reading", hint: "Reads what its owner may read: for a dashboard." },
  label: { name: "labelling", hint: "Reads, gives feedback and labels: for an annotation tool." },
  train: {
    name: "training",
    hint: "Reads, labels, trains, asks models, starts evaluations; deletes nothing: for an agent.",
  },
}

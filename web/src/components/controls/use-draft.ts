import { useState } from "react"

/** A text that is typed until it counts; what its value is changed to elsewhere takes its place. */
export function useDraft(value: string): [text: string, setText: (text: string) => void] {
  const [draft, setDraft] = useState({ of: value, text: value })
  if (draft.of !== value) setDraft({ of: value, text: value })
  return [draft.text, (text) => setDraft({ of: value, text })]
}

import { useState } from "react"
import type { ChatModels } from "../../../api/chat/playground-models.ts"
import { firstModel, lastModel } from "../../../playground/first-model.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"

/** The model of a conversation for which none is chosen; null: there is none, or they are still read. */
export function useFirstModel(project: CurrentProject, { models, trained, base }: ChatModels): string | null {
  // What is asked from here on does not change what the conversation has begun with.
  const [last] = useState(() => lastModel(localStorage, project.id))
  if (models === undefined) return null
  return firstModel({ names: models.map(({ name }) => name), trained, base }, last)
}

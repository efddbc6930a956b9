/**
 * Makes a queue with its questions, or takes one that is there, and adds calls to it. These are several requests: each is told
 * while it runs, a failure says what was not done, and what was done before it stays.
 */
import { useState } from "react"
import type { ApiError } from "../../../../api/api-error.ts"
import { addToQueue, useCreateQueue } from "../../../../api/labelling/queue-changes.ts"
import { createField } from "../../../../api/labelling/labelling.ts"
import { counted } from "../../../../format/counted.ts"
import { type FieldDraft, fieldSchema, objectName } from "../../../../labelling/field-draft.ts"

interface NewQueue {
  name: string
  instructions: string
  /** How many people label an item. */
  people: number
  /** Questions that are there. */
  refs: readonly string[]
  /** Questions that are to be stored first. */
  added: readonly FieldDraft[]
}

interface QueuePlan {
  /** Ids of the calls that are added. */
  findCalls: () => Promise<readonly string[]>
  /** What is made, or the id of a queue. */
  target: NewQueue | string
  /** Paths of what annotators see of a call. */
  shown: string[]
}

interface Told {
  /** A question was stored; `refs`: of all questions of the queue until now. */
  onQuestion: (field: FieldDraft, refs: string[]) => void
  /** A queue was made. */
  onQueue: (id: string) => void
  onSaved: (id: string) => Promise<void>
}

export function useSaveQueue(projectId: string, { onQuestion, onQueue, onSaved }: Told) {
  const create = useCreateQueue()
  const [busy, setBusy] = useState<string | null>(null)
  const [failure, setFailure] = useState<{ what: string; error: ApiError } | null>(null)

  const save = async ({ findCalls, target, shown }: QueuePlan) => {
    setFailure(null)
    let what = "The calls could not be read."
    const begin = (doing: string, failed: string) => {
      setBusy(doing)
      what = failed
    }
    const make = async ({ name, instructions, people, refs: chosen, added }: NewQueue): Promise<string> => {
      const refs = [...chosen]
      for (const field of added) {
        const question = `“${field.name.trim()}”`
        begin(`Storing the question ${question}…`, `The question ${question} was not stored; no queue was made.`)
        const val = { name: field.name.trim(), description: field.rule.trim(), field_schema: fieldSchema(field) }
        refs.push(await createField(projectId, objectName(field.name), val))
        onQuestion(field, [...refs])
      }
      begin("Making the queue…", "The queue was not made.")
      const { id } = await create.mutateAsync({
        project_id: projectId,
        name: name.trim(),
        description: instructions.trim(),
        scorer_refs: refs,
        required_annotators: people,
      })
      onQueue(id)
      return id
    }
    try {
      // First what may find nothing: then nothing has been made.
      begin("Reading the calls…", "The calls could not be read.")
      const ids = await findCalls()
      const id = typeof target === "string" ? target : await make(target)
      if (ids.length > 0) {
        begin(`Adding ${counted(ids.length, "call")}…`, "The queue is there, but the calls were not added.")
        await addToQueue(id, { project_id: projectId, call_ids: ids, display_fields: shown })
      }
      await onSaved(id)
    } catch (error) {
      setFailure({ what, error: error as ApiError })
    } finally {
      setBusy(null)
    }
  }
  return { busy, failure, save }
}

/** The questions of a queue: those of the project to choose from, and new ones to write. */
import { Plus, Trash2 } from "lucide-react"
import { useObjectVersions } from "../../../api/objects/object-versions.ts"
import { Button } from "../../../components/controls/button.tsx"
import { Checkbox, SelectField, TextArea, TextField } from "../../../components/controls/field.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import {
  fieldFaults,
  type FieldDraft,
  fieldShapes,
  type FieldShape,
  newField,
  readyFields,
} from "../../../labelling/field-draft.ts"
import { fieldOf, type LabelField } from "../../../labelling/label-fields.ts"
import { readRef } from "../../../objects/object-refs.ts"
import styles from "./fields-editor.module.css"

interface FieldsEditorProps {
  projectId: string
  /** Refs of the queue, in order. */
  chosen: readonly string[]
  onChosen: (refs: readonly string[]) => void
  added: readonly FieldDraft[]
  onAdded: (fields: readonly FieldDraft[]) => void
  /** Whether what is missing is said. */
  isChecked: boolean
}

/** The newest version of every field of the project. */
export function useProjectFields(projectId: string) {
  const query = useObjectVersions({
    project_id: projectId,
    filter: { base_object_classes: ["AnnotationSpec"], latest_only: true },
  })
  const fields = (query.data ?? []).flatMap((version): LabelField[] => {
    const ref = `weave:///${projectId}/object/${version.object_id}:${version.digest}`
    const field = fieldOf(ref, version.object_id, JSON.parse(version.val))
    return field === null ? [] : [field]
  })
  return { query, fields }
}

const nameOf = (ref: string) => readRef(ref)?.name ?? ref

export function FieldsEditor({ projectId, chosen, onChosen, added, onAdded, isChecked }: FieldsEditorProps) {
  const { query, fields } = useProjectFields(projectId)
  const chosenNames = chosen.map(nameOf)
  const toggle = (field: LabelField) =>
    onChosen(
      chosenNames.includes(field.name) ? chosen.filter((ref) => nameOf(ref) !== field.name) : [...chosen, field.ref],
    )
  const faults = fieldFaults(
    added,
    fields.map(({ name }) => name),
  )
  const change = (index: number, changes: Partial<FieldDraft>) =>
    onAdded(added.map((one, place) => (place === index ? { ...one, ...changes } : one)))
  return (
    <div className={styles.fields}>
      {query.error !== null && (
        <ErrorNote
          what="The fields of the project could not be read."
          error={query.error}
          onRetry={() => void query.refetch()}
        />
      )}
      {fields.length > 0 && (
        <ul className={styles.known} aria-label="Fields of the project">
          {fields.map((field) => (
            <li key={field.name}>
              <Checkbox label={field.title} checked={chosenNames.includes(field.name)} onChange={() => toggle(field)} />
              <span className={styles.shape}>{shapeWords(field)}</span>
            </li>
          ))}
        </ul>
      )}
      {added.map((field, index) => (
        <fieldset key={index} className={styles.added}>
          <legend className={styles.legend}>New question</legend>
          <div className={styles.row}>
            <TextField
              label="Question"
              value={field.name}
              maxLength={128}
              placeholder="How warm is the tone?"
              error={isChecked ? faults[index] : null}
              onChange={(event) => change(index, { name: event.target.value })}
            />
            <SelectField
              label="Answered by"
              value={field.shape}
              onChange={(event) => change(index, { shape: event.target.value as FieldShape })}
            >
              {Object.entries(fieldShapes).map(([shape, words]) => (
                <option key={shape} value={shape}>
                  {words}
                </option>
              ))}
            </SelectField>
            <Button
              kind="quiet"
              icon={Trash2}
              aria-label={`Leave the question ${field.name} out`}
              onClick={() => onAdded(added.filter((_, place) => place !== index))}
            />
          </div>
          {(field.shape === "choice" || field.shape === "many") && (
            <TextArea
              label="Words, a line each; the first nine have the keys 1 to 9"
              rows={3}
              value={field.words}
              placeholder={"kind\nneutral\nrude"}
              onChange={(event) => change(index, { words: event.target.value })}
            />
          )}
          {field.shape === "scale" && (
            <div className={styles.row}>
              <TextField
                label="From"
                inputMode="numeric"
                value={field.least}
                onChange={(event) => change(index, { least: event.target.value })}
              />
              <TextField
                label="To"
                inputMode="numeric"
                value={field.most}
                onChange={(event) => change(index, { most: event.target.value })}
              />
            </div>
          )}
          <TextArea
            label="The rule: how to decide"
            rows={2}
            value={field.rule}
            onChange={(event) => change(index, { rule: event.target.value })}
          />
        </fieldset>
      ))}
      <div className={styles.more}>
        {readyFields
          .filter(({ field: { name } }) => ![...fields, ...added].some((known) => known.name === name))
          .map(({ words, field }) => (
            <Button key={words} icon={Plus} onClick={() => onAdded([...added, field])}>
              {words}
            </Button>
          ))}
        <Button icon={Plus} onClick={() => onAdded([...added, newField])}>
          New question
        </Button>
      </div>
    </div>
  )
}

export function shapeWords({ kind, options, isScale }: LabelField): string {
  if (isScale) return `${options[0]?.label} to ${options.at(-1)?.label}`
  if (options.length > 0) return options.map(({ label }) => label).join(kind === "many" ? ", " : " · ")
  return kind === "json" ? "JSON" : kind
}

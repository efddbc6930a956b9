/** Makes a rule: which calls, how many of them, and what scores them. */
import type { RuleScorer } from "@heddle/server/wire/evaluations/scoring-rule.ts"
import { useState } from "react"
import { useMakeScoringRule } from "../../../../api/evaluations/scoring-rules.ts"
import { SelectField, TextArea, TextField } from "../../../../components/controls/field.tsx"
import { FormDialog } from "../../../../components/layers/form-dialog.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"

const kinds = {
  contains: "whether it holds a text",
  regex: "whether it matches a pattern",
  length: "how long it is",
  value: "the value of a field",
  judge: "a judge",
} as const
type Kind = keyof typeof kinds

interface Given {
  text: string
  field: string
  model: string
}

function scorerOf(kind: Kind, { text, field, model }: Given): RuleScorer {
  const of = field === "" ? {} : { field }
  if (kind === "contains") return { kind, words: text, ...of }
  if (kind === "regex") return { kind, pattern: text, ...of }
  if (kind === "length") return { kind, ...of }
  if (kind === "value") return { kind, field }
  return { kind, model, prompt: text, min: 0, max: 1 }
}

const textLabels: Partial<Record<Kind, string>> = { contains: "Text", regex: "Pattern", judge: "Question to the judge" }

export function NewRuleDialog({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const [name, setName] = useState("")
  const [op, setOp] = useState("")
  const [kind, setKind] = useState<Kind>("contains")
  const [text, setText] = useState("")
  const [field, setField] = useState("")
  const [model, setModel] = useState("")
  const [share, setShare] = useState("100")
  const [budget, setBudget] = useState("1000")
  const make = useMakeScoringRule()
  const label = textLabels[kind]
  const submit = () => {
    const body = {
      project_id: projectId,
      name: name.trim(),
      filter: op.trim() === "" ? {} : { op_names: [op.trim()] },
      sampling_rate: Number(share) / 100,
      scorer: scorerOf(kind, { text, field: field.trim(), model: model.trim() }),
      ...(kind === "judge" ? { daily_budget: { judge_calls: Number(budget) } } : {}),
    }
    make.mutate(body, { onSuccess: onClose })
  }
  return (
    <FormDialog
      title="New rule"
      width={460}
      action="Make rule"
      isReady={name.trim() !== ""}
      isPending={make.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label="Name"
        autoFocus
        required
        maxLength={128}
        value={name}
        onChange={(event) => setName(event.target.value)}
        hint="Letters, digits, - and _. The scores are called by it."
      />
      <TextField
        label="Only calls of the op"
        isMono
        value={op}
        onChange={(event) => setOp(event.target.value)}
        hint="As a call’s page shows it, with :* at its end for any version. Empty: every call."
      />
      <TextField
        label="Share of them, in %"
        type="number"
        required
        min={0}
        max={100}
        step="any"
        value={share}
        onChange={(event) => setShare(event.target.value)}
      />
      <SelectField label="Scores with" value={kind} onChange={(event) => setKind(event.target.value as Kind)}>
        {Object.entries(kinds).map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </SelectField>
      {kind === "judge" && (
        <>
          <TextField
            label="Model"
            isMono
            required
            value={model}
            onChange={(event) => setModel(event.target.value)}
            hint="A base model, name@latest of a model of yours, or custom::endpoint::model."
          />
          <TextField
            label="Answers in a day, at most"
            type="number"
            required
            min={0}
            value={budget}
            onChange={(event) => setBudget(event.target.value)}
          />
        </>
      )}
      {label !== undefined && (
        <TextArea
          label={label}
          required
          rows={kind === "judge" ? 4 : 2}
          value={text}
          onChange={(event) => setText(event.target.value)}
          hint={
            kind === "judge"
              ? "{output}, {inputs} and each input by its name are filled in; the score is 0 to 1."
              : null
          }
        />
      )}
      {kind !== "judge" && (
        <TextField
          label="Field"
          isMono
          required={kind === "value"}
          value={field}
          onChange={(event) => setField(event.target.value)}
          hint="Such as output.choices.0.message.content. Empty: the whole output."
        />
      )}
      {make.error && <ErrorNote what="No rule was made." error={make.error} />}
    </FormDialog>
  )
}

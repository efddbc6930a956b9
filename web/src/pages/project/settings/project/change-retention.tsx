/** Sets how long calls are kept; before a shorter time is stored, it says what goes and when. */
import { useState } from "react"
import { useCallsBefore, useChangeCallRetention } from "../../../../api/calls/call-retention.ts"
import { Radio, TextField } from "../../../../components/controls/field.tsx"
import { Confirm } from "../../../../components/layers/confirm.tsx"
import { FormDialog } from "../../../../components/layers/form-dialog.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { formatExact } from "../../../../format/numbers.ts"
import { daysInWords, isShorter, readDays } from "./retention-words.ts"

interface ChangeRetentionProps {
  projectId: string
  /** As they are kept now; null: for ever. */
  days: number | null
  onClose: () => void
}

const usualDays = 90
const failure = "Calls are kept as before."

export function ChangeRetention({ projectId, days, onClose }: ChangeRetentionProps) {
  const [isLimited, setLimited] = useState(days !== null)
  const [typed, setTyped] = useState(`${days ?? usualDays}`)
  const [asked, setAsked] = useState<number | null>(null)
  const change = useChangeCallRetention()
  const read = readDays(typed)
  const store = (next: number | null) =>
    change.mutate({ project_id: projectId, retention_days: next }, { onSuccess: onClose })
  const submit = () => {
    const next = isLimited ? read : null
    if (typeof next === "string") return
    if (next !== null && isShorter(next, days)) setAsked(next)
    else store(next)
  }
  if (asked !== null) {
    return (
      <Confirm
        title={`Keep calls for ${daysInWords(asked)} only?`}
        action="Set the limit"
        failure={failure}
        change={change}
        onConfirm={() => store(asked)}
        onClose={onClose}
      >
        <WhatGoes projectId={projectId} days={asked} />
      </Confirm>
    )
  }
  return (
    <FormDialog
      title={`How long calls of ${projectId} are kept`}
      width={400}
      action="Set"
      isReady={!isLimited || typeof read === "number"}
      isPending={change.isPending}
      onSubmit={submit}
      onClose={onClose}
    >
      <Radio label="For ever" name="kept" checked={!isLimited} onChange={() => setLimited(false)} />
      <Radio label="For a number of days" name="kept" checked={isLimited} onChange={() => setLimited(true)} />
      {isLimited && (
        <TextField
          label="Days after the start of a call"
          inputMode="numeric"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          error={typeof read === "string" ? read : undefined}
        />
      )}
      {change.error && <ErrorNote what={failure} error={change.error} />}
    </FormDialog>
  )
}

const dayMs = 24 * 60 * 60 * 1000

function WhatGoes({ projectId, days }: { projectId: string; days: number }) {
  const [before] = useState(() => new Date(Date.now() - days * dayMs).toISOString())
  const { data: count, error, refetch } = useCallsBefore(projectId, before)
  return (
    <>
      {error && (
        <ErrorNote what="The calls that go could not be counted." error={error} onRetry={() => void refetch()} />
      )}
      <p>
        {count === undefined ? "Calls are being counted." : sentenceOf(count, days)} What is older goes with its
        payloads when the server does its work of the day: within 24 hours, or at its next start. It cannot be undone.
      </p>
      <p>From then on a call goes {daysInWords(days)} after its start. Datasets, objects, feedback and usage stay.</p>
    </>
  )
}

function sentenceOf(count: number, days: number): string {
  const age = `more than ${daysInWords(days)} ago`
  if (count === 0) return `No call began ${age}, so nothing goes at once.`
  return count === 1 ? `One call began ${age}.` : `${formatExact(count)} calls began ${age}.`
}

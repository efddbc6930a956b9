/** Deletes a rule, after saying what stays. */
import type { ScoringRule } from "@heddle/server/wire/evaluations/scoring-rule.ts"
import { useState } from "react"
import { useDeleteScoringRule } from "../../../../api/evaluations/scoring-rules.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { Confirm } from "../../../../components/layers/confirm.tsx"

export function DeleteRule({ rule: { id, name, project_id, counters } }: { rule: ScoringRule }) {
  const [isConfirming, setConfirming] = useState(false)
  const remove = useDeleteScoringRule(id)
  return (
    <>
      <Button size="small" kind="quiet" aria-label={`Delete the rule ${name}`} onClick={() => setConfirming(true)}>
        Delete…
      </Button>
      {isConfirming && (
        <Confirm
          title={`Delete the rule “${name}”?`}
          action="Delete rule"
          failure="The rule is still there."
          change={remove}
          onConfirm={() => remove.mutate({ project_id })}
          onClose={() => setConfirming(false)}
        >
          <p>
            New calls are not scored by it any more, nor are the {counters.waiting} that wait. Its {counters.scored}{" "}
            scores stay.
          </p>
        </Confirm>
      )}
    </>
  )
}

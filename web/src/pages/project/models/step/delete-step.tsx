/** Removes the checkpoint of a step, after saying who notices. Its metrics stay. */
import type { ListedModel } from "@heddle/server/wire/training/model.ts"
import { Trash2 } from "lucide-react"
import { useState } from "react"
import { useMayWrite } from "../../../../api/rights.ts"
import { useDeleteCheckpoints } from "../../../../api/training/training-changes.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { Confirm } from "../../../../components/layers/confirm.tsx"
import { formatBytes } from "../../../../format/sizes.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import styles from "./delete-step.module.css"

interface DeleteStepProps {
  project: CurrentProject
  model: ListedModel
  step: number
  sizeBytes: number
}

export function DeleteStep({ project, model, step, sizeBytes }: DeleteStepProps) {
  const [isConfirming, setConfirming] = useState(false)
  const remove = useDeleteCheckpoints(model.id)
  const mayWrite = useMayWrite(project.id)
  if (!mayWrite) return null
  return (
    <div className={styles.row}>
      <Button kind="danger" icon={Trash2} onClick={() => setConfirming(true)}>
        {`Delete step ${step}`}
      </Button>
      {isConfirming && (
        <Confirm
          title={`Delete step ${step} of ${model.name}?`}
          action={`Delete step ${step}`}
          failure="The step was not deleted."
          change={remove}
          onConfirm={() => remove.mutate([step], { onSuccess: () => setConfirming(false) })}
          onClose={() => setConfirming(false)}
        >
          <p>
            {sizeBytes > 0 && `Frees ${formatBytes(sizeBytes)}. `}
            From then on a chat that names this step is refused; those under way finish. It cannot be undone.
          </p>
          {step === model.latest_step && (
            <p>
              It is the newest step: a chat that names {model.name} alone is answered by the newest that is left, and
              the next training goes on from there.
            </p>
          )}
          <p>Kept: its metrics, and the job that made it.</p>
        </Confirm>
      )}
    </div>
  )
}

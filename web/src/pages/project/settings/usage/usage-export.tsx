/** The days that are shown as a CSV file: a line for each day, project, person, key and model. */
import { useMutation } from "@tanstack/react-query"
import { Download } from "lucide-react"
import { readUsage } from "../../../../api/organization/usage.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { saveFile } from "../../../../components/controls/save-file.ts"
import { usageCsv } from "./usage-csv.ts"
import { useUsageNames } from "./use-usage-names.ts"

interface UsageExportProps {
  /** Unix seconds. */
  start: number
  /** null: of every project. */
  projectId: string | null
}

export function UsageExport({ start, projectId }: UsageExportProps) {
  const [user, key] = [useUsageNames("user_id"), useUsageNames("api_key_id")]
  const save = useMutation({
    mutationFn: () => readUsage({ start_time: start, ...(projectId === null ? {} : { project_ids: [projectId] }) }),
    onSuccess: (data) => {
      const csv = usageCsv({ data }, { user, key })
      saveFile(new Blob([csv], { type: "text/csv" }), `usage-${(projectId ?? "all").replaceAll("/", "-")}.csv`)
    },
  })
  return (
    <Button icon={Download} disabled={save.isPending} title={save.error?.message} onClick={() => save.mutate()}>
      {save.error === null ? "CSV" : "Not read: try again"}
    </Button>
  )
}

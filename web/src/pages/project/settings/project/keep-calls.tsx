/** How long calls of the project are kept, and its change. */
import { Clock } from "lucide-react"
import { useState } from "react"
import { useCallRetention } from "../../../../api/calls/call-retention.ts"
import { useMayWrite } from "../../../../api/rights.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { SectionHead } from "../section-head.tsx"
import { ChangeRetention } from "./change-retention.tsx"
import { daysInWords } from "./retention-words.ts"

export function KeepCalls({ projectId }: { projectId: string }) {
  const [isChanging, setChanging] = useState(false)
  const mayWrite = useMayWrite(projectId)
  const retention = useCallRetention(projectId)
  return (
    <Loaded query={retention} what="limits on calls">
      {({ retention_days: days }) => (
        <>
          <SectionHead
            isSmall
            title="Keep calls"
            actions={
              mayWrite && (
                <Button icon={Clock} onClick={() => setChanging(true)}>
                  Change…
                </Button>
              )
            }
          >
            {days === null
              ? "For ever: a call stays until somebody deletes it."
              : `For ${daysInWords(days)}: a call goes by itself, so long after its start. The server looks once a day.`}
          </SectionHead>
          {isChanging && <ChangeRetention projectId={projectId} days={days} onClose={() => setChanging(false)} />}
        </>
      )}
    </Loaded>
  )
}

/** In the place of a page whose code was not loaded: opens it when the server answers again. */
import { WifiOff } from "lucide-react"
import { useEffect, useState } from "react"
import { useIsAnswering } from "../api/is-answering.ts"
import { Button } from "../components/controls/button.tsx"
import { Note } from "../components/states/note.tsx"
import { putText } from "../kept/put-text.ts"

const reloadedAt = "heddle-reloaded-for-code"
/** Another time so soon would not help either. */
const pauseMs = 30_000

export function CodeMissing() {
  const isAnswering = useIsAnswering()
  const [isByHand] = useState(() => {
    const last = sessionStorage.getItem(reloadedAt) ?? "0"
    // A browser without room would not know that it has reloaded, and do so again and again.
    return Date.now() - Number(last) < pauseMs || !putText(sessionStorage, reloadedAt, last)
  })
  // The browser, which keeps what it could not load until it reads the page anew.
  useEffect(() => {
    if (!isAnswering || isByHand) return
    putText(sessionStorage, reloadedAt, String(Date.now()))
    location.reload()
  }, [isAnswering, isByHand])
  if (isAnswering && isByHand) {
    return (
      <Note
        kind="bad"
        title="The code of this page is not there."
        actions={
          <Button size="small" onClick={() => location.reload()}>
            Reload
          </Button>
        }
      >
        The server answers, but not with the files of this page. Whoever runs it can start it anew.
      </Note>
    )
  }
  return (
    <Note kind="warn" icon={WifiOff} title="The server does not answer.">
      The page opens by itself when it does.
    </Note>
  )
}

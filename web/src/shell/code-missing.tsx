/** In the place of a page whose code was not loaded: opens it when the server answers again. */
import { WifiOff } from "lucide-react"
import { useEffect, useState } from "react"
import { useIsAnswering } from "../api/is-answering.ts"
import { Button } from "../components/controls/button.tsx"
import { Note } from "../components/states/note.tsx"

const reloadedAt = "heddle-reloaded-for-code"
/** Another time so soon would not help either. */
const pauseMs = 30_000

export function CodeMissing() {
  const isAnswering = useIsAnswering()
  const [wasReloaded] = useState(() => Date.now() - Number(sessionStorage.getItem(reloadedAt)) < pauseMs)
  // The browser, which keeps what it could not load until it reads the page anew.
  useEffect(() => {
    if (!isAnswering || wasReloaded) return
    sessionStorage.setItem(reloadedAt, String(Date.now()))
    location.reload()
  }, [isAnswering, wasReloaded])
  if (isAnswering && wasReloaded) {
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

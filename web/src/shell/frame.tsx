/** The frame of every page: navigation, palette, sheet of keys, and the sign-in when a session has ended. */
import { useNavigate } from "@tanstack/react-router"
import { Keyboard, LogOut, Menu, Moon } from "lucide-react"
import { lazy, type ReactNode, Suspense, useEffect, useState, useSyncExternalStore } from "react"
import { sessionEnd } from "../api/session-state.ts"
import { Button } from "../components/controls/button.tsx"
import { PageMenu } from "../components/layout/page-menu.ts"
import { useKeys } from "../keys/use-keys.ts"
import { toggleTheme } from "../theme/theme.ts"
import { useCommands } from "./commands.ts"
import { useCurrentProject } from "./current-project.ts"
import { Navigation } from "./navigation.tsx"
import { rememberProject } from "./recent-places.ts"
import { sections } from "./sections.ts"
import { useMedia } from "./use-media.ts"
import styles from "./frame.module.css"

const Palette = lazy(() => import("./palette.tsx").then(({ Palette: loaded }) => ({ default: loaded })))
const KeySheet = lazy(() => import("./key-sheet.tsx").then(({ KeySheet: loaded }) => ({ default: loaded })))
const Account = lazy(() => import("./account.tsx").then(({ Account: loaded }) => ({ default: loaded })))
const SignInAgain = lazy(() => import("./sign-in-again.tsx").then(({ SignInAgain: loaded }) => ({ default: loaded })))

type Layer = "palette" | "keys" | "account"

interface FrameProps {
  /** How much room the page leaves the navigation; on narrow screens it is a rail anyway. */
  navigation?: "full" | "rail" | "none"
  children: ReactNode
}

export function Frame({ navigation = "full", children }: FrameProps) {
  const [layer, setLayer] = useState<Layer | null>(null)
  const navigate = useNavigate()
  const project = useCurrentProject()
  const isNarrow = useMedia("(max-width: 1359px)")
  const hasEnded = useSyncExternalStore(sessionEnd.subscribe, sessionEnd.hasEnded)
  const close = () => setLayer(null)

  // This browser's memory of where it was.
  useEffect(() => {
    if (project !== null) rememberProject(project.id)
  }, [project])

  useKeys([
    { keys: "?", label: "this sheet", group: "Everywhere", run: () => setLayer("keys") },
    { keys: "mod+k", label: "search, jump, commands", group: "Everywhere", run: () => setLayer("palette") },
    { keys: "t", label: "light or dark", group: "Everywhere", run: toggleTheme },
    ...(project === null
      ? []
      : sections.map(({ key, label, to }) => ({
          keys: `g ${key}`,
          label: `go to ${label}`,
          group: "Everywhere",
          run: () => void navigate({ to, params: project.params }),
        }))),
  ])
  useCommands([
    { id: "theme", label: "Light or dark", icon: Moon, keys: "t", run: toggleTheme },
    { id: "keys", label: "Show the keys", icon: Keyboard, keys: "?", run: () => setLayer("keys") },
    { id: "sign-out", label: "Account and sign out", icon: LogOut, run: () => setLayer("account") },
  ])

  return (
    <div className={styles.frame}>
      <a className={styles.skip} href="#main" onClick={skipToContent}>
        Skip to content
      </a>
      {navigation !== "none" && (
        <Navigation
          isRail={isNarrow || navigation === "rail"}
          onSearch={() => setLayer("palette")}
          onKeys={() => setLayer("keys")}
          onAccount={() => setLayer("account")}
        />
      )}
      <main id="main" className={styles.main} tabIndex={-1}>
        <PageMenu
          value={
            <Button kind="quiet" icon={Menu} aria-label="Pages and commands" onClick={() => setLayer("palette")} />
          }
        >
          {children}
        </PageMenu>
      </main>
      {/* While its code comes, what is typed is meant for it: without it, a letter would be a key of the page. */}
      <Suspense fallback={<div role="dialog" aria-label="Opening…" />}>
        {layer === "palette" && <Palette isOpen onClose={close} />}
        {layer === "keys" && <KeySheet isOpen onClose={close} />}
        {layer === "account" && <Account isOpen onClose={close} />}
        {hasEnded && <SignInAgain />}
      </Suspense>
    </div>
  )
}

/** The page has a `<base>`, against which `#main` alone would be another address. */
function skipToContent(event: { preventDefault: () => void }): void {
  event.preventDefault()
  document.querySelector<HTMLElement>("#main")?.focus()
}

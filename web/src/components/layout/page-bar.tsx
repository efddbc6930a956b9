/** The head of a page: where it is, its title, its actions on the right, the primary one last. */
import { useParams, useRouter } from "@tanstack/react-router"
import { ArrowLeft } from "lucide-react"
import { type ReactNode, use, useEffect } from "react"
import { Button } from "../controls/button.tsx"
import { PageMenu } from "./page-menu.ts"
import styles from "./page-bar.module.css"

interface PageBarProps {
  title: string
  /** What the browser's tab, its history and its bookmarks say, where the title alone would not tell this page apart. */
  tab?: string | undefined
  /** The parent page, shown before the title. */
  crumb?: ReactNode
  /** Beside the title. */
  aside?: ReactNode
  actions?: ReactNode
}

export function PageBar({ title, tab = title, crumb, aside, actions }: PageBarProps) {
  const router = useRouter()
  const { entity, project } = useParams({ strict: false })

  // The browser's tab. A page without a bar has the name of the product alone.
  useEffect(() => {
    document.title = `${tab} · ${project ? `${entity}/${project} · ` : ""}Heddle`
    return () => {
      document.title = "Heddle"
    }
  }, [tab, entity, project])

  return (
    <header className={styles.bar}>
      <span className={styles.back}>
        <Button kind="quiet" icon={ArrowLeft} aria-label="Back" onClick={() => router.history.back()} />
      </span>
      {crumb !== undefined && <span className={styles.crumb}>{crumb} /</span>}
      <h1 className={styles.title}>{title}</h1>
      {aside !== undefined && <span className={styles.aside}>{aside}</span>}
      {actions !== undefined && <span className={styles.actions}>{actions}</span>}
      <span className={styles.menu}>{use(PageMenu)}</span>
    </header>
  )
}

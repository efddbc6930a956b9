/** The head of a page: where it is, its title, its actions on the right, the primary one last. */
import { useRouter } from "@tanstack/react-router"
import { ArrowLeft } from "lucide-react"
import { type ReactNode, use } from "react"
import { Button } from "../controls/button.tsx"
import { PageMenu } from "./page-menu.ts"
import styles from "./page-bar.module.css"

interface PageBarProps {
  title: ReactNode
  /** The parent page, shown before the title. */
  crumb?: ReactNode
  /** Beside the title. */
  aside?: ReactNode
  actions?: ReactNode
}

export function PageBar({ title, crumb, aside, actions }: PageBarProps) {
  const router = useRouter()
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

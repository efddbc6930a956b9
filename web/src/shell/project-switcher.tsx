/** The project in hand. Its menu comes with the first press: menus are a quarter of the frame's code. */
import { Boxes, ChevronsUpDown } from "lucide-react"
import { lazy, Suspense, useState } from "react"
import { Icon } from "../components/signs/icon.tsx"
import { useCurrentProject } from "./current-project.ts"
import styles from "./navigation.module.css"

const loadMenu = () => import("./project-menu.tsx")
const ProjectMenu = lazy(() => loadMenu().then(({ ProjectMenu: loaded }) => ({ default: loaded })))

export function ProjectSwitcher() {
  const [isWanted, setWanted] = useState(false)
  const current = useCurrentProject()
  const name = current === null ? "Choose a project" : `${current.entity} / ${current.project}`
  const label = current === null ? name : `Project: ${name}`
  const face = (
    <>
      <Icon of={Boxes} size={14} />
      <span className={styles.words}>{name}</span>
      <Icon of={ChevronsUpDown} size={14} className={styles.words} />
    </>
  )
  const button = (
    <button
      type="button"
      className={styles.project}
      aria-label={label}
      aria-haspopup="menu"
      title={label}
      onPointerEnter={() => void loadMenu()}
      onClick={() => setWanted(true)}
    >
      {face}
    </button>
  )
  if (!isWanted) return button
  return (
    <Suspense fallback={button}>
      <ProjectMenu label={label} className={styles.project} face={face} />
    </Suspense>
  )
}

/** The projects to switch to: those opened lately first. */
import { useNavigate } from "@tanstack/react-router"
import { Boxes, LayoutGrid } from "lucide-react"
import type { ReactNode } from "react"
import { useSession } from "../api/session.ts"
import { Menu, MenuItem, MenuLine } from "../components/layers/menu.tsx"
import { recentProjects } from "./recent-places.ts"

interface ProjectMenuProps {
  label: string
  className: string | undefined
  face: ReactNode
}

const mostShown = 12

export function ProjectMenu({ label, className, face }: ProjectMenuProps) {
  const navigate = useNavigate()
  const { projects } = useSession()
  const recent = recentProjects()
  const names = projects.map(({ entity, name }) => `${entity}/${name}`)
  const ordered = [...recent.filter((name) => names.includes(name)), ...names.filter((name) => !recent.includes(name))]
  const open = (name: string) => {
    const [entity = "", project = ""] = name.split("/")
    void navigate({ to: "/$entity/$project", params: { entity, project } })
  }
  return (
    <Menu
      className={className}
      label={label}
      isOpenAtFirst
      items={
        <>
          {ordered.slice(0, mostShown).map((name) => (
            <MenuItem key={name} icon={Boxes} onAction={() => open(name)}>
              {name}
            </MenuItem>
          ))}
          <MenuLine />
          <MenuItem icon={LayoutGrid} onAction={() => void navigate({ to: "/" })}>
            All projects
          </MenuItem>
        </>
      }
    >
      {face}
    </Menu>
  )
}

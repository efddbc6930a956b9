/** Every project that may be opened. A server without any leads straight to the first run. */
import { Navigate } from "@tanstack/react-router"
import { Plus } from "lucide-react"
import { type FormEvent, useState } from "react"
import { useProjects } from "../../api/organization/projects.ts"
import { useSession } from "../../api/session.ts"
import { Button } from "../../components/controls/button.tsx"
import { SelectField, TextField } from "../../components/controls/field.tsx"
import { PageBar } from "../../components/layout/page-bar.tsx"
import { type Head, PlainTable } from "../../components/layout/plain-table.tsx"
import { Time } from "../../components/signs/time.tsx"
import { Empty } from "../../components/states/empty.tsx"
import { Loaded } from "../../components/states/loaded.tsx"
import { TextLink } from "../../components/text/link.tsx"
import { NewProject } from "./new-project.tsx"
import styles from "./projects-page.module.css"

/** The name of the project that a first run is about. */
const firstProject = "demo"

/** Others are found by their names. */
const mostProjects = 100

const heads: Head[] = [
  { name: "Project" },
  { name: "Team", className: styles.team },
  { name: "Made", className: styles.made },
]

export function ProjectsPage() {
  const { user, projects } = useSession()
  const [text, setText] = useState("")
  const [entity, setEntity] = useState("")
  const [isMaking, setMaking] = useState(false)
  const showAll = () => {
    setText("")
    setEntity("")
  }
  const found = useProjects({
    limit: mostProjects,
    ...(text === "" ? {} : { query: text }),
    ...(entity === "" ? {} : { entity }),
  })
  if (projects.length === 0) {
    return <Navigate to="/$entity/$project" params={{ entity: user.default_entity, project: firstProject }} replace />
  }
  return (
    <>
      <PageBar
        title="Projects"
        actions={
          <Button icon={Plus} onClick={() => setMaking(true)}>
            New project
          </Button>
        }
      />
      <form className={styles.filter} role="search" onSubmit={(event: FormEvent) => event.preventDefault()}>
        <TextField
          label="Find a project"
          isLabelHidden
          placeholder="Find a project"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        {user.entities.length > 1 && (
          <SelectField label="Team" isLabelHidden value={entity} onChange={(event) => setEntity(event.target.value)}>
            <option value="">every team</option>
            {user.entities.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </SelectField>
        )}
      </form>
      <div className={styles.list}>
        <Loaded query={found} what="projects">
          {({ data, has_more: hasMore }) =>
            data.length === 0 ? (
              <Empty title="No project matches" actions={<Button onClick={showAll}>Show all</Button>}>
                Projects are found by a part of their team and name.
              </Empty>
            ) : (
              <>
                <PlainTable label="Projects" heads={heads}>
                  {data.map((project) => (
                    <tr key={project.id}>
                      <td>
                        <TextLink
                          isQuiet
                          className={styles.name}
                          to="/$entity/$project"
                          params={{ entity: project.entity, project: project.name }}
                        >
                          {project.name}
                        </TextLink>
                      </td>
                      <td className={styles.team}>{project.entity}</td>
                      <td className={styles.made}>
                        <Time at={project.created_at} />
                      </td>
                    </tr>
                  ))}
                </PlainTable>
                {hasMore && (
                  <p className={styles.more}>
                    These are {mostProjects}; the others are found by a part of their names.
                  </p>
                )}
              </>
            )
          }
        </Loaded>
      </div>
      {isMaking && <NewProject entities={user.entities} onClose={() => setMaking(false)} />}
    </>
  )
}

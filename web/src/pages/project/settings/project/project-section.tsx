/** The project of the address: since when it is, how long it keeps calls, and its deletion. */
import { useProject } from "../../../../api/organization/projects.ts"
import { useMayWrite } from "../../../../api/rights.ts"
import { KeyValue, KeyValues } from "../../../../components/layout/key-values.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { Note } from "../../../../components/states/note.tsx"
import { useProjectOfPage } from "../../../../shell/current-project.ts"
import { SectionHead } from "../section-head.tsx"
import { DeleteProject } from "./delete-project.tsx"
import { KeepCalls } from "./keep-calls.tsx"
import styles from "./project-section.module.css"

export function ProjectSection() {
  const { entity, project, id } = useProjectOfPage()
  const found = useProject(entity, project)
  const mayWrite = useMayWrite(id)
  return (
    <>
      <SectionHead title="This project">What is stored under {id}, as a whole.</SectionHead>
      <Loaded query={found} what="projects">
        {(made) =>
          made === null ? (
            <div className={styles.block}>
              <Note title="There is no such project yet.">The first thing that is stored in {id} makes it.</Note>
            </div>
          ) : (
            <>
              <div className={styles.block}>
                <KeyValues>
                  <KeyValue name="Name">{id}</KeyValue>
                  <KeyValue name="Made">
                    <Time at={made.created_at} />
                  </KeyValue>
                </KeyValues>
              </div>
              <KeepCalls projectId={id} />
              <SectionHead
                isSmall
                title="Delete the project"
                actions={mayWrite && <DeleteProject entity={entity} project={project} />}
              >
                Every member of {entity} may. There is no way back; export first what somebody may want.
              </SectionHead>
            </>
          )
        }
      </Loaded>
    </>
  )
}

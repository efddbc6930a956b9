/** How much each project of the team holds. */
import { useProjects } from "../../../../api/organization/projects.ts"
import { useProjectSizes } from "../../../../api/organization/project-sizes.ts"
import { PlainTable } from "../../../../components/layout/plain-table.tsx"
import { Meter } from "../../../../components/signs/meter.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { Loaded } from "../../../../components/states/loaded.tsx"
import { TextLink } from "../../../../components/text/link.tsx"
import { formatBytes } from "../../../../format/sizes.ts"
import { useProjectOfPage } from "../../../../shell/current-project.ts"
import { SectionHead } from "../section-head.tsx"
import styles from "./storage-section.module.css"

const mostProjects = 100

const parts = [
  { part: "trace_storage_size_bytes", name: "Calls" },
  { part: "objects_storage_size_bytes", name: "Objects" },
  { part: "tables_storage_size_bytes", name: "Tables" },
  { part: "files_storage_size_bytes", name: "Files" },
] as const

export function StorageSection() {
  const { entity, project } = useProjectOfPage()
  const projects = useProjects({ entity, limit: mostProjects })
  const names = (projects.data?.data ?? []).map(({ name }) => name)
  const sizes = useProjectSizes(names.map((name) => `${entity}/${name}`))
  const rows = names
    .map((name, index) => {
      const size = sizes[index]?.data
      return { name, size, all: size === undefined ? 0 : parts.reduce((sum, { part }) => sum + size[part], 0) }
    })
    .toSorted((a, b) => b.all - a.all)
  const most = Math.max(1, ...rows.map(({ all }) => all))
  const failure = sizes.find(({ error }) => error !== null)
  return (
    <>
      <SectionHead
        title="Storage"
        actions={
          <TextLink to="/$entity/$project/settings/$section" params={{ entity, project, section: "quotas" }}>
            What the team may hold
          </TextLink>
        }
      >
        What the projects of {entity} hold, as it was sent: what the stores take for it on the disk is less as a rule.
        Checkpoints are counted in the team’s quota.
      </SectionHead>
      {failure?.error != null && (
        <div className={styles.block}>
          <ErrorNote what="A size could not be read." error={failure.error} onRetry={() => void failure.refetch()} />
        </div>
      )}
      <Loaded query={projects} what="projects">
        {({ has_more: hasMore }) => (
          <>
            <PlainTable
              label="Storage by project"
              heads={[
                { name: "Project", className: styles.name },
                ...parts.map(({ name }) => ({ name, className: styles.part })),
                { name: "Together", className: styles.all },
              ]}
            >
              {rows.map(({ name, size, all }) => (
                <tr key={name}>
                  <td className={styles.name} title={name}>
                    <TextLink isQuiet to="/$entity/$project" params={{ entity, project: name }}>
                      {name}
                    </TextLink>
                  </td>
                  {parts.map(({ part }) => (
                    <td key={part} className={styles.part}>
                      {size === undefined ? "…" : formatBytes(size[part])}
                    </td>
                  ))}
                  <td className={styles.all}>
                    <span className={styles.meter}>
                      <Meter share={all / most} label={`Size of ${name}`} />
                      {size === undefined ? "…" : formatBytes(all)}
                    </span>
                  </td>
                </tr>
              ))}
            </PlainTable>
            {hasMore && <p className={styles.block}>The {mostProjects} projects that were made last.</p>}
          </>
        )}
      </Loaded>
    </>
  )
}

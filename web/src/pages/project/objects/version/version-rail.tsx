/** Versions of an object, the newest first: who made them, when, what they are called, and how many rows changed. */
import { Link } from "@tanstack/react-router"
import { type ReactNode, useState } from "react"
import type { ObjectVersion } from "../../../../api/objects/object-versions.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { Tag } from "../../../../components/signs/tag.tsx"
import { Time } from "../../../../components/signs/time.tsx"
import { SkeletonRows } from "../../../../components/states/skeleton.tsx"
import { nounOf } from "../../../../format/counted.ts"
import { formatExact } from "../../../../format/numbers.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { Publisher } from "../publisher.tsx"
import { ChangeFigures } from "./change-figures.tsx"
import { useRowChanges } from "./use-row-changes.ts"
import styles from "./version-rail.module.css"

interface VersionRailProps {
  project: CurrentProject
  name: string
  /** The newest first. */
  versions: readonly ObjectVersion[]
  isReading: boolean
  shown: ObjectVersion
  /** Below the versions. */
  children: ReactNode
}

/** So many are listed at once; those before them on demand. */
const step = 50
export const mostVersions = 1000

export function VersionRail({ project, name, versions, isReading, shown, children }: VersionRailProps) {
  const place = versions.findIndex(({ digest }) => digest === shown.digest)
  const [most, setMost] = useState(Math.max(step, place + 1))
  const rowsOf = useRowChanges(project.id, name, shown.base_object_class === "Dataset")
  return (
    <div className={styles.rail}>
      {isReading && <SkeletonRows what="Reading versions" rows={3} />}
      <nav aria-label="Versions">
        <ul>
          {versions.slice(0, most).map((version) => {
            const { digest, version_index: index, created_at: at, wb_user_id: by } = version
            const rows = rowsOf(digest)
            return (
              <li key={digest} className={styles.item}>
                <Link
                  to="/$entity/$project/objects/$name/versions/$version"
                  params={{ ...project.params, name, version: `v${index}` }}
                  search={({ show }) => (show === undefined ? {} : { show })}
                  className={styles.version}
                  aria-current={digest === shown.digest ? "page" : undefined}
                >
                  <span className={styles.line}>
                    <b>v{index}</b>
                    <VersionLabels version={version} />
                    {rows?.changes != null && <ChangeFigures counts={rows.changes} />}
                  </span>
                  <span className={styles.note}>
                    <span>
                      <Publisher id={by} />, <Time at={at} />
                    </span>
                    {rows !== null && <span className={styles.rows}>{rowWords(rows.count)}</span>}
                  </span>
                </Link>
              </li>
            )
          })}
        </ul>
      </nav>
      {versions.length > most && (
        <div className={styles.more}>
          <Button size="small" onClick={() => setMost(most + step)}>
            Show older versions
          </Button>
        </div>
      )}
      {children}
    </div>
  )
}

function VersionLabels({ version: { aliases, tags } }: { version: ObjectVersion }) {
  return (
    <>
      {aliases?.map((alias) => (
        <Tag key={alias} kind="alias">
          {alias}
        </Tag>
      ))}
      {tags?.map((tag) => (
        <Tag key={tag}>{tag}</Tag>
      ))}
    </>
  )
}

function rowWords(count: number): string {
  return `${formatExact(count)} ${nounOf(count, "row")}`
}

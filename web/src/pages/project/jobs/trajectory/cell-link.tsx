/** A trajectory as a cell that leads to it, and the list that cells stand in. */
import { Link } from "@tanstack/react-router"
import type { LucideIcon } from "lucide-react"
import type { AnchorHTMLAttributes, ReactNode } from "react"
import { classNames } from "../../../../components/class-names.ts"
import { Icon } from "../../../../components/signs/icon.tsx"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import styles from "./cell-link.module.css"

export function CellList({ children }: { children: ReactNode }) {
  return <ul className={styles.cells}>{children}</ul>
}

type Anchor = AnchorHTMLAttributes<HTMLAnchorElement>

interface CellLinkProps extends Pick<
  Anchor,
  "aria-current" | "aria-label" | "children" | "onKeyDown" | "style" | "tabIndex" | "title"
> {
  project: CurrentProject
  jobId: string
  group: number
  index: number
  /** Its group teaches nothing. */
  isFlat: boolean
  /** It was left out although its group teaches. */
  isLeftOut?: boolean
}

export function CellLink({ project, jobId, group, index, isFlat, isLeftOut = false, ...rest }: CellLinkProps) {
  return (
    <Link
      to="/$entity/$project/jobs/$id/groups/$group/$index"
      params={{
        ...project.params,
        id: jobId,
        group: `${group}`,
        index: `${index}`,
      }}
      search={(search) => ({ heat: "heat" in search ? search.heat : undefined })}
      className={classNames(styles.cell, isFlat && styles.flat, isLeftOut && styles.left)}
      {...rest}
    />
  )
}

export function CellMark({ of }: { of: LucideIcon }) {
  return <Icon of={of} size={12} className={styles.mark} />
}

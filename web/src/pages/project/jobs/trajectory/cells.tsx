/** The trajectories of a group, a cell each: its number, and the colour of it. Arrow keys go from cell to cell. */
import type { ListedTrajectory, TrainedGroup } from "@heddle/server/wire/training/trained-trajectory.ts"
import { ChevronDown, ChevronUp } from "lucide-react"
import type { CSSProperties, KeyboardEvent } from "react"
import { rampColors } from "../../../../components/signs/heat.tsx"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import type { CellValue } from "../job/job-search.ts"
import { CellLink, CellList, CellMark } from "./cell-link.tsx"
import { bestAndWorst, cellText, cellWords, dropsOf, isTrained } from "./group-cells.ts"

interface CellsProps {
  project: CurrentProject
  jobId: string
  group: TrainedGroup
  by: CellValue
  scale: { low: number; high: number }
  /** The trajectory that is shown. */
  current?: number
  /** Whether the tab key comes here. */
  isFirst?: boolean
}

export function Cells({ project, jobId, group, by, scale, current, isFirst = false }: CellsProps) {
  const ends = bestAndWorst(group.trajectories)
  const first = group.trajectories[0]?.index
  return (
    <CellList>
      {group.trajectories.map((one) => {
        const reasons = dropsOf(one)
        const words = cellWords(group, one, by)
        return (
          <li key={one.index}>
            <CellLink
              project={project}
              jobId={jobId}
              group={group.group}
              index={one.index}
              isFlat={!group.has_contrast}
              isLeftOut={reasons.length > 0}
              style={group.has_contrast && isTrained(one) ? groundOf(one, by, scale) : undefined}
              aria-label={`${group.question || `group ${group.group}`}, ${words}`}
              aria-current={one.index === current ? "true" : undefined}
              title={[words, ...reasons.map(({ reason }) => reason)].join("\n")}
              tabIndex={isFirst && one.index === (current ?? first) ? 0 : -1}
              onKeyDown={moveByArrows}
              data-cell={`${group.group}.${one.index}`}
            >
              {one.index === ends?.best && <CellMark of={ChevronUp} />}
              {one.index === ends?.worst && <CellMark of={ChevronDown} />}
              {reasons.length > 0 && <b aria-hidden>!</b>}
              {cellText(one, by)}
            </CellLink>
          </li>
        )
      })}
    </CellList>
  )
}

function groundOf(one: ListedTrajectory, by: CellValue, { low, high }: CellsProps["scale"]): CSSProperties | undefined {
  if (by === "tokens") return undefined
  const { ground, ink } =
    by === "advantage"
      ? rampColors("advantage", one.advantage)
      : rampColors("reward", (one.reward - low) / (high - low))
  return { background: ground, color: ink }
}

/** Among the rows of what is marked with `data-rows`: ← → within a row, ↑ ↓ from row to row, Home and End. */
function moveByArrows(event: KeyboardEvent<HTMLElement>): void {
  const from = event.currentTarget
  const lists = [...(from.closest("[data-rows]")?.querySelectorAll("ul") ?? [])]
  const rows = lists.map((row) => [...row.querySelectorAll<HTMLElement>("[data-cell]")])
  const row = rows.findIndex((cells) => cells.includes(from))
  const column = rows[row]?.indexOf(from) ?? 0
  const to = {
    ArrowLeft: rows[row]?.[column - 1],
    ArrowRight: rows[row]?.[column + 1],
    ArrowUp: nearest(rows[row - 1], column),
    ArrowDown: nearest(rows[row + 1], column),
    Home: rows[row]?.[0],
    End: rows[row]?.at(-1),
  }[event.key]
  if (to === undefined) return
  event.preventDefault()
  from.tabIndex = -1
  to.tabIndex = 0
  to.focus()
}

function nearest(row: HTMLElement[] | undefined, column: number): HTMLElement | undefined {
  return row?.[Math.min(column, row.length - 1)]
}

/** The head of the table of traces: how many there are, and what is listed, from when, how. */
import { Columns3, PanelLeft, Radio } from "lucide-react"
import type { ReactNode } from "react"
import { Button } from "../../../components/controls/button.tsx"
import { PageBar } from "../../../components/layout/page-bar.tsx"
import { type Listed, ListedSwitch } from "./listed-switch.tsx"
import { RangeMenu } from "./range-menu.tsx"
import styles from "./traces-page.module.css"

interface TracesBarProps {
  /** Of the rows; null: not counted yet. */
  count: ReactNode | null
  rootsOnly: boolean
  range: { name: string; from: string; to: string }
  isLive: boolean
  /** Whether values are shown beside the table; null: there is no room, and they have a window of their own. */
  hasValues: boolean | null
  onListed: (listed: Listed) => void
  onRange: (from: string, to: string) => void
  onLive: () => void
  /** undefined: there are none to choose from. */
  onValues: (() => void) | undefined
  onColumns: () => void
}

export function TracesBar(props: TracesBarProps) {
  const { count, rootsOnly, range, isLive, hasValues, onListed, onRange, onLive, onValues, onColumns } = props
  return (
    <PageBar
      title="Traces"
      aside={count !== null && <span aria-live="polite">{count}</span>}
      actions={
        <>
          <ListedSwitch listed={rootsOnly ? "roots" : "all"} onChange={onListed} />
          <RangeMenu {...range} onChange={onRange} />
          <Button icon={Radio} isOn={isLive} aria-label="Live tail" onClick={onLive}>
            <span className={styles.wideOnly}>Live tail</span>
          </Button>
          <Button
            kind="quiet"
            icon={PanelLeft}
            aria-label="Values"
            {...(hasValues === null ? { "aria-haspopup": "dialog" as const } : { isOn: hasValues })}
            disabled={onValues === undefined}
            onClick={onValues}
          >
            <span className={styles.wideOnly}>Values</span>
          </Button>
          <span className={styles.wideOnly}>
            <Button kind="quiet" icon={Columns3} onClick={onColumns}>
              Columns
            </Button>
          </span>
        </>
      }
    />
  )
}

/** Where a thing comes from and where it went, as stations of the loop. */
import { Link, type LinkComponentProps } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { classNames } from "../class-names.ts"
import { Icon } from "../signs/icon.tsx"
import { type Station, stations } from "./stations.ts"
import styles from "./thread.module.css"

export interface ThreadStop {
  station: Station
  label: ReactNode
  /** undefined: there is nothing to go to. */
  link?: Omit<LinkComponentProps, "children" | "className">
  isHere?: boolean
  /** The way on from here is under way now. */
  isLive?: boolean
}

export function Thread({ stops }: { stops: readonly ThreadStop[] }) {
  return (
    // The keyboard must reach it where it is too narrow: it scrolls sideways, and may hold no link.
    <nav className={styles.thread} aria-label="Where it comes from and where it went" tabIndex={0}>
      {stops.map((stop, index) => (
        <span key={stop.station} className={styles.stop}>
          {index > 0 && <i className={classNames(styles.way, stops[index - 1]?.isLive === true && styles.live)} />}
          <ThreadMark {...stop} />
        </span>
      ))}
    </nav>
  )
}

function ThreadMark({ station, label, link, isHere = false }: ThreadStop) {
  const content = (
    <>
      <Icon of={stations[station].icon} size={14} name={stations[station].name} />
      {label}
    </>
  )
  if (isHere || link === undefined) {
    return (
      <span className={classNames(styles.mark, isHere && styles.here)} aria-current={isHere ? "true" : undefined}>
        {content}
      </span>
    )
  }
  return (
    <Link className={classNames(styles.mark, styles.linked)} {...link}>
      {content}
    </Link>
  )
}

/** Tabs for different things in one place. Which one is open belongs into the address, so it is the page's to hold. */
import type { ReactNode } from "react"
import { type Key, Tab, TabList, TabPanel, Tabs as AriaTabs } from "react-aria-components"
import { classNames } from "../class-names.ts"
import styles from "./tabs.module.css"

export interface TabItem<Id extends string> {
  id: Id
  label: ReactNode
  /** Beside the label. */
  count?: ReactNode
}

interface TabsProps<Id extends string> {
  label: string
  tabs: readonly TabItem<Id>[]
  open: Id
  onOpen: (id: Id) => void
  /** The content takes all the room that is left, and scrolls by itself. */
  isFilling?: boolean
  /** Content of the open tab. */
  children: ReactNode
}

export function Tabs<Id extends string>({ label, tabs, open, onOpen, isFilling = false, children }: TabsProps<Id>) {
  return (
    <AriaTabs className={styles.tabs ?? ""} selectedKey={open} onSelectionChange={(key: Key) => onOpen(key as Id)}>
      <TabList aria-label={label} className={styles.list ?? ""}>
        {tabs.map(({ id, label: text, count }) => (
          <Tab key={id} id={id} className={styles.tab ?? ""}>
            {text}
            {count !== undefined && <span className={styles.count}>{count}</span>}
          </Tab>
        ))}
      </TabList>
      <TabPanel id={open} className={classNames(styles.panel, isFilling && styles.filling)}>
        {children}
      </TabPanel>
    </AriaTabs>
  )
}

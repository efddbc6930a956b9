/** A button that opens a list of things to do or to go to. */
import type { LucideIcon } from "lucide-react"
import type { ReactNode } from "react"
import {
  Button,
  Menu as AriaMenu,
  MenuItem as AriaMenuItem,
  MenuTrigger,
  Popover,
  Separator,
} from "react-aria-components"
import { classNames } from "../class-names.ts"
import { ButtonContent, type ButtonLook, buttonClass } from "../controls/button.tsx"
import { Icon } from "../signs/icon.tsx"
import { Keys } from "../signs/keys.tsx"
import styles from "./menu.module.css"

interface MenuProps extends ButtonLook {
  /** Label of a button without words. */
  label?: string
  /** {@link MenuItem}s. */
  items: ReactNode
  /** Draws the button in its own way. */
  className?: string | undefined
  /** Open from the start: whoever pressed the button has waited for the menu's code. */
  isOpenAtFirst?: boolean
}

export function Menu({ label, items, className, isOpenAtFirst = false, ...look }: MenuProps) {
  return (
    <MenuTrigger defaultOpen={isOpenAtFirst}>
      <Button className={className ?? buttonClass(look)} {...(label === undefined ? {} : { "aria-label": label })}>
        <ButtonContent {...look} />
      </Button>
      <Popover className={styles.popover ?? ""} placement="bottom start" offset={4}>
        <AriaMenu className={styles.menu ?? ""}>{items}</AriaMenu>
      </Popover>
    </MenuTrigger>
  )
}

interface MenuItemProps {
  icon?: LucideIcon
  keys?: string
  note?: ReactNode
  isDanger?: boolean
  onAction: () => void
  children: string
}

export function MenuItem({ icon, keys, note, isDanger = false, onAction, children }: MenuItemProps) {
  return (
    <AriaMenuItem
      className={classNames(styles.item, isDanger && styles.danger)}
      textValue={children}
      onAction={onAction}
    >
      {icon && <Icon of={icon} size={14} />}
      <span className={styles.label}>{children}</span>
      {note !== undefined && <span className={styles.note}>{note}</span>}
      {keys !== undefined && <Keys of={keys} />}
    </AriaMenuItem>
  )
}

export function MenuLine() {
  return <Separator className={styles.line ?? ""} />
}

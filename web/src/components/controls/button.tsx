/** Buttons, and links that look like them. One primary a screen. */
import { Link, type LinkComponentProps } from "@tanstack/react-router"
import type { LucideIcon } from "lucide-react"
import type { ComponentProps, MouseEvent, ReactNode } from "react"
import { classNames } from "../class-names.ts"
import { Icon } from "../signs/icon.tsx"
import { Keys } from "../signs/keys.tsx"
import styles from "./button.module.css"

export interface ButtonLook {
  kind?: "default" | "primary" | "quiet" | "danger"
  size?: "normal" | "small"
  icon?: LucideIcon | undefined
  /** The shortcut that does the same. */
  keys?: string | undefined
  children?: ReactNode
}

/** The class names, for a trigger that another library draws. */
export function buttonClass({ kind = "default", size = "normal", children }: ButtonLook): string {
  return classNames(
    styles.button,
    styles[kind],
    size === "small" && styles.small,
    (children === undefined || children === null) && styles.iconOnly,
  )
}

export function ButtonContent({ icon, keys, size = "normal", children }: ButtonLook) {
  return (
    <>
      {icon && <Icon of={icon} size={size === "small" ? 12 : 14} />}
      {children}
      {keys !== undefined && <Keys of={keys} />}
    </>
  )
}

interface ButtonProps extends ButtonLook, Omit<ComponentProps<"button">, "className" | "children"> {
  /** It is a switch. */
  isOn?: boolean
  /** What it does is under way: it does nothing, and keeps the focus, which a disabled button would lose. */
  isBusy?: boolean
}

/** A button without words needs an `aria-label`. */
export function Button({ kind, size, icon, keys, children, isOn, isBusy = false, ...rest }: ButtonProps) {
  const look = { kind, size, icon, keys, children } as ButtonLook
  const busy = isBusy && { "aria-disabled": true, onClick: (event: MouseEvent) => event.preventDefault() }
  return (
    <button type="button" className={buttonClass(look)} aria-pressed={isOn} {...rest} {...busy}>
      <ButtonContent {...look} />
    </button>
  )
}

/** Goes somewhere: a link, so that it can be opened in another tab. */
export function LinkButton({
  kind,
  size,
  icon,
  keys,
  children,
  ...rest
}: ButtonLook & Omit<LinkComponentProps, "children">) {
  const look = { kind, size, icon, keys, children } as ButtonLook
  return (
    <Link className={buttonClass(look)} {...rest}>
      <ButtonContent {...look} />
    </Link>
  )
}

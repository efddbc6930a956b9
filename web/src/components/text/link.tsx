/** Links in sentences are underlined; links that are the first cell of a row are so when pointed at. */
import { createLink, type LinkComponent } from "@tanstack/react-router"
import type { ComponentProps } from "react"
import { classNames } from "../class-names.ts"
import styles from "./link.module.css"

interface AnchorProps extends ComponentProps<"a"> {
  isQuiet?: boolean
}

function Anchor({ isQuiet = false, className, children, ...rest }: AnchorProps) {
  return (
    <a className={classNames(isQuiet ? styles.quiet : styles.link, className)} {...rest}>
      {children}
    </a>
  )
}

const CreatedLink = createLink(Anchor)

/** To a page of this interface; its address is checked by the compiler. */
export const TextLink: LinkComponent<typeof Anchor> = (props) => <CreatedLink preload="intent" {...props} />

/** To what is no page: the API reference, another host. */
export function OuterLink({ children, ...rest }: ComponentProps<"a">) {
  return (
    <a className={styles.link} target="_blank" rel="noreferrer noopener" {...rest}>
      {children}
    </a>
  )
}

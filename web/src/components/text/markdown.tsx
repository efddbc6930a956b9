/** Markdown by people and models. HTML in it is shown as text; links open in a new tab. */
import { lazy, Suspense } from "react"
import styles from "./markdown.module.css"

/** The parser is as large as the rest of a page's code, and few pages need it. */
const MarkdownTree = lazy(() => import("./markdown-tree.tsx").then((module) => ({ default: module.MarkdownTree })))

export function Markdown({ text }: { text: string }) {
  return (
    <div className={styles.markdown} dir="auto">
      <Suspense fallback={<p className={styles.plain}>{text}</p>}>
        <MarkdownTree text={text} />
      </Suspense>
    </div>
  )
}

/** Markdown as elements. It never becomes HTML: the parser makes a tree, and React draws it. */
import type { ComponentProps } from "react"
import ReactMarkdown, { type Components } from "react-markdown"
import gfm from "remark-gfm"

const components: Components = {
  a: ({ href, children }) => (
    <a href={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ),
  img: Picture,
}

/** A picture of another host would tell it who reads; the page's policy does not load it either. It is a link instead. */
function Picture({ src, alt }: ComponentProps<"img">) {
  if (typeof src !== "string" || src.startsWith("data:image/")) return <img src={src} alt={alt ?? ""} />
  return (
    <a href={src} target="_blank" rel="noreferrer noopener">
      {alt || src}
    </a>
  )
}

const remarkPlugins = [gfm]

export function MarkdownTree({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={remarkPlugins} components={components}>
      {text}
    </ReactMarkdown>
  )
}

/** A link that looks like a button and that the browser saves as a file, under the name that the server gives it. */
import { Download } from "lucide-react"
import { ButtonContent, type ButtonLook, buttonClass } from "./button.tsx"

/** One without words needs a `label`. */
export function DownloadButton({ href, label, ...look }: ButtonLook & { href: string; label?: string }) {
  const shown = { icon: Download, ...look }
  return (
    <a className={buttonClass(shown)} href={href} download aria-label={label}>
      <ButtonContent {...shown} />
    </a>
  )
}

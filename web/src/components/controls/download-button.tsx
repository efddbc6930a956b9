/** A link that looks like a button and that the browser saves as a file, under the name that the server gives it. */
import { Download } from "lucide-react"
import { ButtonContent, type ButtonLook, buttonClass } from "./button.tsx"

export function DownloadButton({ href, ...look }: ButtonLook & { href: string }) {
  const shown = { icon: Download, ...look }
  return (
    <a className={buttonClass(shown)} href={href} download>
      <ButtonContent {...shown} />
    </a>
  )
}

/** The pictures, sounds, films and files of a payload, over its JSON, which stays as it is. */
import { mediaOfText } from "../../../media/payload-media.ts"
import type { JsonText } from "../../../json/json-text.ts"
import { MediaView } from "./media-view.tsx"
import styles from "./media-strip.module.css"

interface MediaStripProps {
  /** `entity/project` */
  project: string
  /** Of the payload: "Input". */
  label: string
  text: JsonText
}

export function MediaStrip({ project, label, text }: MediaStripProps) {
  const media = mediaOfText(text)
  if (media === null) return <p className={styles.note}>Too large to look for pictures and files in it.</p>
  if (media.length === 0) return null
  return (
    <ul className={styles.strip} aria-label={`Media of the ${label.toLowerCase()}`}>
      {media.map((one, index) => (
        <li key={index}>
          <MediaView project={project} media={one} place={one.path === "" ? label : one.path} />
        </li>
      ))}
    </ul>
  )
}

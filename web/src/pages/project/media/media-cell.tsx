/** A picture or file in a row of a table: as small as the row, and nothing but its address is asked for. */
import { File, FileAudio, FileVideo } from "lucide-react"
import { useState } from "react"
import { fileAddress } from "../../../api/files.ts"
import { Icon } from "../../../components/signs/icon.tsx"
import type { Media } from "../../../media/media.ts"
import { kindOf, shownType } from "../../../media/media-types.ts"
import { fileOf } from "./media-file.ts"
import styles from "./media-cell.module.css"

export function MediaCell({ project, media: { name, type, source } }: { project: string; media: Media }) {
  const [isBroken, setBroken] = useState(false)
  const said = name === "" ? "file" : name
  const file = fileOf(project, source)
  if (kindOf(type) === "image" && file !== null && !isBroken) {
    const address = fileAddress(file, { type: shownType(type), name })
    return (
      <img
        className={styles.picture}
        src={address}
        alt={said}
        loading="lazy"
        decoding="async"
        onError={() => setBroken(true)}
      />
    )
  }
  return (
    <span className={styles.file}>
      <Icon of={kindOf(type) === "audio" ? FileAudio : kindOf(type) === "video" ? FileVideo : File} size={12} />{" "}
      {source.at === "text" ? source.text.slice(0, 200) : said}
    </span>
  )
}

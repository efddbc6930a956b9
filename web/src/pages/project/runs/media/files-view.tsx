/** The pictures, sounds, films and other files that were logged under one name at one step. */
import type { OfRun } from "../../../../api/runs/runs.ts"
import { MediaView } from "../../media/media-view.tsx"
import styles from "./files-view.module.css"
import type { LoggedFile } from "./logged-media.ts"

interface FilesViewProps {
  of: OfRun
  name: string
  files: readonly LoggedFile[]
}

export function FilesView({ of, name, files }: FilesViewProps) {
  return (
    <ul className={styles.files} aria-label={`Files of ${name}`}>
      {files.map(({ path, caption, type }, place) => (
        <li key={place}>
          <MediaView
            key={path}
            project={`${of.entity}/${of.project}`}
            media={{ name: "", type, source: { at: "run", run: of, path } }}
            place={caption || (path.split("/").at(-1) ?? path)}
          />
        </li>
      ))}
    </ul>
  )
}

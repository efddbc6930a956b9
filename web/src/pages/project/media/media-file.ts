import type { StoredFile } from "../../../api/files.ts"
import type { MediaSource } from "../../../media/media.ts"

/** Where the server has it. null: it is in the payload itself, or on another host. */
export function fileOf(project: string, source: MediaSource): StoredFile | null {
  if (source.at === "run") return { run: source.run, path: source.path }
  if (source.at === "artifact") return { artifactFile: source.place }
  return source.at === "file" ? { project, digest: source.digest } : null
}

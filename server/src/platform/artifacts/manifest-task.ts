/** Reading the manifest that a client sends: platform-wandb 9.2. */
import { HeddleError } from "../../errors.ts"
import { check } from "../../http/validation.ts"
import { plainTask } from "../../threads/thread-task.ts"
import { artifactManifest } from "../../wire/platform/artifact-inputs.ts"
import { localId } from "../runs/run-ids.ts"
import { isUuid } from "../../storage/catalog/identifiers.ts"

const entriesInList = 1000

export interface ReadManifest {
  /** A line each: JSON lists of entries, as `artifact-commit.ts` takes them. */
  lists: Buffer
  /** JSON list of the artifacts that files come from. */
  births: Buffer
}

/** @throws {HeddleError} `invalid_request`. */
export const manifestTask = plainTask({
  name: "artifact/manifest",
  ownThreadBytes: 256 * 1024,
  work: ({ bytes, extraBytes }: { bytes: Buffer; extraBytes: number }): ReadManifest => {
    const { contents } = readManifest(bytes)
    const lists: string[] = []
    const births: { digest: string; artifact_id: string }[] = []
    let list: object[] = []
    for (const [path, { digest, size, ref, birthArtifactID, extra }] of Object.entries(contents)) {
      const text = extra === null || extra === undefined ? null : JSON.stringify(extra)
      if (text !== null && text.length > extraBytes) {
        throw new HeddleError("payload_too_large", `"${path}": extra has more than ${extraBytes} characters`)
      }
      list.push({ path, digest, size_bytes: size ?? 0, ref: ref ?? null, extra: text })
      const birth = localId("Artifact", birthArtifactID)
      if (!ref && birth !== null && isUuid(birth)) births.push({ digest, artifact_id: birth })
      if (list.length < entriesInList) continue
      lists.push(JSON.stringify(list))
      list = []
    }
    if (list.length > 0) lists.push(JSON.stringify(list))
    return { lists: Buffer.from(lists.join("\n")), births: Buffer.from(JSON.stringify(births)) }
  },
})

function readManifest(bytes: Buffer) {
  let value: unknown
  try {
    value = JSON.parse(bytes.toString("utf8"))
  } catch (cause) {
    throw new HeddleError("invalid_request", `the manifest is not JSON: ${(cause as Error).message}`, { cause })
  }
  const { data, fault } = check(artifactManifest, value, "it")
  if (fault !== null) throw new HeddleError("invalid_request", `the manifest: ${fault}`)
  return data
}

/** The code of an operation, as the SDK stored it with the version that the call ran. */
import { useFileText, useObject } from "../../../api/objects/objects.ts"
import { Code } from "../../../components/text/code.tsx"
import { Loaded } from "../../../components/states/loaded.tsx"
import styles from "./call-code.module.css"

const opRef = /^weave:\/\/\/(?<project>[^/]+\/[^/]+)\/(?:op|object)\/(?<name>[^:]+):(?<digest>[^/]+)$/

export function CallCode({ opRef: ref }: { opRef: string }) {
  const { project = "", name = "", digest = "" } = opRef.exec(ref)?.groups ?? {}
  const object = useObject({ project_id: project, object_id: name, digest }, project !== "")
  const file = fileOf(object.data?.obj.val)
  const code = useFileText({ project_id: project, digest: file ?? "" }, file !== null)
  return (
    <div className={styles.code}>
      <p className={styles.note}>
        <code>{ref}</code>
      </p>
      {object.data !== undefined && file === null ? (
        <p className={styles.note}>This version was published without its code.</p>
      ) : (
        <Loaded query={object} what="operation">
          {() => (
            <Loaded query={code} what="code">
              {(text) => <Code label={`Code of ${name}`} code={text} />}
            </Loaded>
          )}
        </Loaded>
      )}
    </div>
  )
}

/** The digest of `obj.py`, or of what else the SDK wrote; null: there is none. */
function fileOf(value: unknown): string | null {
  const files = (value as { files?: Record<string, unknown> } | null | undefined)?.files ?? {}
  const digest = files["obj.py"] ?? Object.values(files)[0]
  return typeof digest === "string" ? digest : null
}

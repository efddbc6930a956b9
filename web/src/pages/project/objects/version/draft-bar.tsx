/** Below the rows: what of them is changed and not published yet, and the ways on. */
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { useChangeDatasetRows } from "../../../../api/objects/dataset-rows.ts"
import type { ObjectVersion } from "../../../../api/objects/object-versions.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { Confirm } from "../../../../components/layers/confirm.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import { formatExact } from "../../../../format/numbers.ts"
import { updatesOf } from "../../../../objects/dataset-draft.ts"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { useWhileShown } from "../../../../url/use-while-shown.ts"
import styles from "./draft-bar.module.css"
import type { DraftOfVersion } from "./use-dataset-draft.ts"

interface DraftBarProps {
  project: CurrentProject
  version: ObjectVersion
  /** The newest version, when it is another. */
  newer: ObjectVersion | undefined
  of: DraftOfVersion
}

export function DraftBar({ project, version, newer, of }: DraftBarProps) {
  const [isAsked, setAsked] = useState(false)
  const navigate = useNavigate()
  const whileShown = useWhileShown()
  const publish = useChangeDatasetRows({
    onPublished: async (digest) => {
      const params = { ...project.params, name: version.object_id, version: digest }
      await whileShown(() => navigate({ to: "/$entity/$project/objects/$name/versions/$version", params }))
      of.discard()
    },
    onSettled: of.setPublication,
  })
  // The answer was lost: the same again is stored once.
  const isUnknown = of.publishError?.isUnanswered === true
  const next = `v${version.version_index + 1}`
  const save = () => {
    of.setPublication("running")
    publish.mutate({
      projectId: project.id,
      dataset: version.object_id,
      digest: version.digest,
      updates: updatesOf(of.draft),
    })
  }
  return (
    <section className={styles.bar} aria-label="Draft">
      {of.publishError !== null && (
        <ErrorNote
          what={isUnknown ? "It may be published or not: publish it again." : "Nothing was published."}
          error={of.publishError}
        />
      )}
      <div className={styles.line}>
        <span>
          <b>Not published:</b> {wordsOf(of)}.{" "}
          {newer !== undefined &&
            !of.isPublishing &&
            !isUnknown &&
            `v${newer.version_index} was published meanwhile: make the changes there.`}
          {!of.isKept && "This browser has no room to keep it: publish it before you leave the page."}
        </span>
        <span className={styles.actions}>
          <Button disabled={of.isPublishing} onClick={() => setAsked(true)}>
            Discard…
          </Button>
          {(newer === undefined || isUnknown) && (
            <Button kind="primary" isBusy={of.isPublishing} onClick={save}>
              {of.isPublishing ? "Publishing…" : `Publish as ${next}`}
            </Button>
          )}
        </span>
      </div>
      {isAsked && (
        <Confirm
          title="Discard the draft?"
          action="Discard it"
          failure="The draft is still there."
          change={{ isPending: false, error: null }}
          onConfirm={() => {
            setAsked(false)
            of.discard()
          }}
          onClose={() => setAsked(false)}
        >
          <p>{wordsOf(of)}: it is not kept anywhere else. The version stays as it is.</p>
        </Confirm>
      )}
    </section>
  )
}

function wordsOf({ counts: { changed, removed, added } }: DraftOfVersion): string {
  const parts: [count: number, word: string][] = [
    [changed, "changed"],
    [removed, "removed"],
    [added, "added"],
  ]
  return parts.flatMap(([count, word]) => (count === 0 ? [] : [`${formatExact(count)} ${word}`])).join(", ")
}

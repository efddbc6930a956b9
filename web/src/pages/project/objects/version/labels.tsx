/** Aliases and tags of a version: an alias names one version of an object and can be moved, a tag may be on many. */
import { Flag, Plus, TagIcon, X } from "lucide-react"
import { useState } from "react"
import { type ObjectVersion, useChangeLabels } from "../../../../api/objects/object-versions.ts"
import { useMayWrite } from "../../../../api/rights.ts"
import { Button } from "../../../../components/controls/button.tsx"
import { Tag } from "../../../../components/signs/tag.tsx"
import { ErrorNote } from "../../../../components/states/error-note.tsx"
import type { CurrentProject } from "../../../../shell/current-project.ts"
import { AliasDialog } from "./alias-dialog.tsx"
import styles from "./labels.module.css"
import { RemoveAliasDialog } from "./remove-alias-dialog.tsx"
import { TagDialog } from "./tag-dialog.tsx"

interface LabelsProps {
  project: CurrentProject
  version: ObjectVersion
  versions: readonly ObjectVersion[]
}

type Dialog = { what: "alias" } | { what: "tag" } | { what: "remove"; alias: string } | null

export function Labels({ project, version, versions }: LabelsProps) {
  const [dialog, setDialog] = useState<Dialog>(null)
  const change = useChangeLabels()
  const mayChange = useMayWrite(project.id)
  const of = { project_id: project.id, object_id: version.object_id, digest: version.digest }
  const close = () => {
    change.reset()
    setDialog(null)
  }
  const aliases = version.aliases ?? []
  return (
    <div className={styles.bar} role="group" aria-label="Labels of this version">
      {aliases.map((alias) => (
        <span key={alias} className={styles.label}>
          <Tag kind="alias">{alias}</Tag>
          {/* The newest version has it by itself. */}
          {mayChange && alias !== "latest" && (
            <Button
              size="small"
              kind="quiet"
              icon={X}
              aria-label={`Take the alias ${alias} off`}
              onClick={() => setDialog({ what: "remove", alias })}
            />
          )}
        </span>
      ))}
      {mayChange && (
        <Button size="small" kind="quiet" icon={Flag} onClick={() => setDialog({ what: "alias" })}>
          Alias…
        </Button>
      )}
      {version.tags?.map((tag) => (
        <span key={tag} className={styles.label}>
          <Tag icon={TagIcon}>{tag}</Tag>
          {mayChange && (
            <Button
              size="small"
              kind="quiet"
              icon={X}
              aria-label={`Take the tag ${tag} off`}
              onClick={() => change.mutate({ ...of, change: "take", tag })}
            />
          )}
        </span>
      ))}
      {mayChange && (
        <Button size="small" kind="quiet" icon={Plus} onClick={() => setDialog({ what: "tag" })}>
          Tag…
        </Button>
      )}
      {dialog === null && change.error !== null && <ErrorNote what="The tag is still there." error={change.error} />}
      {dialog?.what === "alias" && (
        <AliasDialog
          version={version}
          versions={versions}
          error={change.error}
          isPending={change.isPending}
          onSet={(alias) => change.mutate({ ...of, change: "set", alias }, { onSuccess: close })}
          onClose={close}
        />
      )}
      {dialog?.what === "remove" && (
        <RemoveAliasDialog
          version={version}
          alias={dialog.alias}
          error={change.error}
          isPending={change.isPending}
          onRemove={() => change.mutate({ ...of, change: "remove", alias: dialog.alias }, { onSuccess: close })}
          onClose={close}
        />
      )}
      {dialog?.what === "tag" && (
        <TagDialog
          version={version}
          error={change.error}
          isPending={change.isPending}
          onAdd={(tag) => change.mutate({ ...of, change: "add", tag }, { onSuccess: close })}
          onClose={close}
        />
      )}
    </div>
  )
}

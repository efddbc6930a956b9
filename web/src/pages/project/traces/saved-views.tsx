/** Filters that the project keeps under a name, each of them a link; and what can be done with the one that is open. */
import { Link } from "@tanstack/react-router"
import { Bookmark, Ellipsis, Plus } from "lucide-react"
import { type FormEvent, useState } from "react"
import { newViewId, type SavedView, useDeleteView, useSavedViews, useSaveView } from "../../../api/calls/saved-views.ts"
import { useMayWrite } from "../../../api/rights.ts"
import { classNames } from "../../../components/class-names.ts"
import { Button } from "../../../components/controls/button.tsx"
import { TextField } from "../../../components/controls/field.tsx"
import { Confirm } from "../../../components/layers/confirm.tsx"
import { Dialog } from "../../../components/layers/dialog.tsx"
import { Menu, MenuItem } from "../../../components/layers/menu.tsx"
import { Icon } from "../../../components/signs/icon.tsx"
import { ErrorNote } from "../../../components/states/error-note.tsx"
import type { CurrentProject } from "../../../shell/current-project.ts"
import styles from "./saved-views.module.css"
import { definitionOf, searchOfView, type TracesSearch, viewAddress } from "./view-address.ts"

interface SavedViewsProps {
  project: CurrentProject
  search: TracesSearch
  /** The view that the address names is another one, or none. */
  onView: (id: string | undefined) => void
}

const to = "/$entity/$project/traces"

export function SavedViews({ project, search, onView }: SavedViewsProps) {
  const { views, error } = useSavedViews(project.id)
  const [dialog, setDialog] = useState<"new" | "rename" | "delete" | null>(null)
  const save = useSaveView()
  const mayWrite = useMayWrite(project.id)
  const { params } = project
  const open = views?.find(({ id }) => id === search.view)
  const address = viewAddress(search)
  const isChanged = open !== undefined && open.address !== address
  const isPlain = address === "?"
  if (views === undefined && error === null) return <div className={styles.bar} aria-hidden />
  return (
    <nav className={styles.bar} aria-label="Saved views">
      <Link
        to={to}
        params={params}
        search={{}}
        className={classNames(styles.view, isPlain && open === undefined && styles.open)}
        activeOptions={{ exact: true, includeSearch: true }}
      >
        All
      </Link>
      {views?.map(({ id, label, address: saved }) => (
        <span key={id} className={styles.one}>
          <Link
            to={to}
            params={params}
            search={{ ...searchOfView(saved), view: id }}
            className={classNames(styles.view, id === open?.id && styles.open)}
            aria-current={id === open?.id ? "page" : undefined}
            title={label}
          >
            <Icon of={Bookmark} size={12} />
            <span className={styles.label}>{label}</span>
            {id === open?.id && isChanged && <span className={styles.changed}>changed</span>}
          </Link>
          {mayWrite && id === open?.id && (
            <Menu
              kind="quiet"
              size="small"
              icon={Ellipsis}
              label={`What to do with the view ${label}`}
              items={
                <>
                  {isChanged && (
                    <MenuItem
                      onAction={() => {
                        const definition = definitionOf(address, project.id)
                        save.mutate({ projectId: project.id, id, label, address, definition })
                      }}
                    >
                      Save the changes
                    </MenuItem>
                  )}
                  <MenuItem onAction={() => setDialog("rename")}>Rename…</MenuItem>
                  <MenuItem isDanger onAction={() => setDialog("delete")}>
                    Delete…
                  </MenuItem>
                </>
              }
            />
          )}
        </span>
      ))}
      {mayWrite && !isPlain && (open === undefined || isChanged) && (
        <Button kind="quiet" size="small" icon={Plus} onClick={() => setDialog("new")}>
          Save view
        </Button>
      )}
      {error !== null && <ErrorNote what="The saved views could not be read." error={error} />}
      {save.error !== null && dialog === null && <ErrorNote what="The view was not saved." error={save.error} />}
      {(dialog === "new" || (dialog === "rename" && open !== undefined)) && (
        <NameView
          project={project}
          renamed={dialog === "rename" ? open : undefined}
          address={dialog === "rename" ? (open?.address ?? address) : address}
          onSaved={onView}
          onClose={() => setDialog(null)}
        />
      )}
      {dialog === "delete" && open !== undefined && (
        <DeleteView project={project} view={open} onDeleted={() => onView(undefined)} onClose={() => setDialog(null)} />
      )}
    </nav>
  )
}

interface NameViewProps {
  project: CurrentProject
  renamed: SavedView | undefined
  /** What the view keeps: a new name changes nothing of it, whatever is shown meanwhile. */
  address: string
  onSaved: (id: string) => void
  onClose: () => void
}

function NameView({ project, renamed, address, onSaved, onClose }: NameViewProps) {
  const [label, setLabel] = useState(renamed?.label ?? "")
  const save = useSaveView()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const id = renamed?.id ?? newViewId()
    const definition = definitionOf(address, project.id)
    const view = { projectId: project.id, id, label: label.trim(), address, definition }
    save.mutate(view, {
      onSuccess: () => {
        onClose()
        onSaved(id)
      },
    })
  }
  return (
    <Dialog title={renamed === undefined ? "Save this view" : "Rename the view"} isOpen onClose={onClose} width={400}>
      <form className={styles.form} onSubmit={submit}>
        <TextField
          label="Name"
          value={label}
          maxLength={80}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- whoever opened the dialog wants to type the name
          autoFocus
          hint={`Everybody in ${project.id} sees it. It keeps the filter, range of time, columns and order.`}
          onChange={(event) => setLabel(event.target.value)}
        />
        {save.error !== null && <ErrorNote what="The view was not saved." error={save.error} />}
        <div className={styles.actions}>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
          <Button kind="primary" type="submit" disabled={label.trim() === "" || save.isPending}>
            {renamed === undefined ? "Save view" : "Rename"}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

interface DeleteViewProps {
  project: CurrentProject
  view: SavedView
  onDeleted: () => void
  onClose: () => void
}

function DeleteView({ project, view: { id, label }, onDeleted, onClose }: DeleteViewProps) {
  const change = useDeleteView()
  return (
    <Confirm
      title={`Delete the view “${label}”?`}
      action={`Delete ${label}`}
      failure="The view was not deleted."
      change={change}
      onConfirm={() =>
        change.mutate(
          { projectId: project.id, id },
          {
            onSuccess: () => {
              onClose()
              onDeleted()
            },
          },
        )
      }
      onClose={onClose}
    >
      <p>It goes for everybody in {project.id}. No call is touched, and links to it still show its filter.</p>
    </Confirm>
  )
}

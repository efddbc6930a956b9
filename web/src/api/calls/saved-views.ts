/** Saved views of the table of calls: objects of the class `SavedView`, by `/objs/query`, `/obj/create`, `/obj/delete`. */
import type { callsFilter } from "@heddle/server/wire/calls/call-read.ts"
import { useMutation } from "@tanstack/react-query"
import type * as z from "zod"
import type { ApiError } from "../api-error.ts"
import { sendForJson } from "../client.ts"
import { useObjectVersions } from "../objects/object-versions.ts"
import { queryClient } from "../queries.ts"

const savedViewClass = "SavedView"
/** The {@link SavedViewValue.view_type} of traces; the SDK has other lists too. */
const viewType = "traces"

/** The part of a view that the SDK reads. */
export interface ViewDefinition {
  filter: z.input<typeof callsFilter> | null
  query: object | null
  sort_by: { field: string; direction: "asc" | "desc" }[]
  columns: { path: string[]; label: string }[]
}

interface SavedViewValue {
  label: string
  view_type: string
  /** The query of its address, which says all of it. */
  description: string | null
}

export interface SavedView {
  id: string
  label: string
  /** `?q=status+is+error` */
  address: string
}

/** The oldest first. Views that other programs made have no address; they are among the objects. */
export function useSavedViews(projectId: string) {
  const query = useObjectVersions({
    project_id: projectId,
    filter: { base_object_classes: [savedViewClass], latest_only: true },
    sort_by: [{ field: "object_id", direction: "asc" }],
  })
  const views = query.data?.flatMap(({ object_id, val }): SavedView[] => {
    const { label, view_type, description } = JSON.parse(val) as SavedViewValue
    return view_type === viewType && description?.startsWith("?") === true
      ? [{ id: object_id, label, address: description }]
      : []
  })
  return { views, error: query.error }
}

interface ViewToSave extends SavedView {
  projectId: string
  definition: ViewDefinition
}

/** A view of an id that is there gets a new version. */
export function useSaveView() {
  return useMutation<unknown, ApiError, ViewToSave>({
    mutationFn: ({ projectId, id, label, address, definition }) =>
      sendForJson({
        method: "POST",
        path: "/obj/create",
        body: {
          obj: {
            project_id: projectId,
            object_id: id,
            builtin_object_class: savedViewClass,
            val: { name: id, description: address, view_type: viewType, label, definition },
          },
        },
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["POST /objs/query"] }),
  })
}

export function useDeleteView() {
  return useMutation<unknown, ApiError, { projectId: string; id: string }>({
    mutationFn: ({ projectId, id }) =>
      sendForJson({ method: "POST", path: "/obj/delete", body: { project_id: projectId, object_id: id } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["POST /objs/query"] }),
  })
}

/** In the order in which they were made. */
export function newViewId(): string {
  const random = crypto.getRandomValues(new Uint8Array(4))
  const tail = Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("")
  return `traces-view-${Date.now().toString(36)}-${tail}`
}

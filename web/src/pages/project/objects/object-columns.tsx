/** The columns of a list of objects, of which each stands with its newest version. */
import type { ObjectVersion } from "../../../api/objects/object-versions.ts"
import type { Column } from "../../../components/data-table/columns.ts"
import { Tag } from "../../../components/signs/tag.tsx"
import { Time } from "../../../components/signs/time.tsx"
import { TextLink } from "../../../components/text/link.tsx"
import { kindOfObject } from "../../../objects/object-kinds.ts"
import type { CurrentProject } from "../../../shell/current-project.ts"
import styles from "./object-columns.module.css"
import { Publisher } from "./publisher.tsx"

interface ColumnContext {
  project: CurrentProject
  /** There is room for few columns. */
  isNarrow: boolean
  /** By the digest of a version; null: not only datasets are listed. */
  rowCount: ((digest: string) => string) | null
}

export function objectColumns({ project, isNarrow, rowCount }: ColumnContext): Column<ObjectVersion>[] {
  return [
    {
      id: "name",
      title: "Name",
      width: isNarrow ? 200 : 320,
      cell: (object) => (
        <TextLink isQuiet className={styles.name} {...placeOf(project, object)}>
          {object.object_id}
        </TextLink>
      ),
    },
    { id: "kind", title: "Kind", width: 150, cell: kindWords },
    ...(rowCount === null
      ? []
      : [
          {
            id: "rows",
            title: "Rows",
            width: 90,
            isNumber: true,
            cell: ({ digest }: ObjectVersion) => rowCount(digest),
          },
        ]),
    { id: "version", title: "Newest", width: 80, cell: ({ version_index: index }) => `v${index}` },
    { id: "published", title: "Published", width: 110, cell: ({ created_at: at }) => <Time at={at} /> },
    { id: "by", title: "By", width: 130, cell: ({ wb_user_id: id }) => <Publisher id={id} /> },
    { id: "labels", title: "Labels of the newest", width: 320, cell: (object) => <ObjectLabels object={object} /> },
  ]
}

/** Address of the newest version of a name. */
export function placeOf({ entity, project }: CurrentProject, { object_id: name, version_index: index }: ObjectVersion) {
  return {
    to: "/$entity/$project/objects/$name/versions/$version" as const,
    params: { entity, project, name, version: `v${index}` },
  }
}

function kindWords(object: ObjectVersion): string {
  const { leaf_object_class: leaf, base_object_class: base } = object
  const { noun } = kindOfObject(object)
  return leaf === null || leaf === base ? noun : `${noun}, ${leaf}`
}

function ObjectLabels({ object: { aliases, tags } }: { object: ObjectVersion }) {
  return (
    <span className={styles.labels}>
      {aliases
        ?.filter((alias) => alias !== "latest")
        .map((alias) => (
          <Tag key={alias} kind="alias">
            {alias}
          </Tag>
        ))}
      {tags?.map((tag) => (
        <Tag key={tag}>{tag}</Tag>
      ))}
    </span>
  )
}

/** Reading the evaluation store's objects: one by one, many for refs, and lists (evaluation-store-objects 3.2, 3.3, 9). */
import { type ExpressionBuilder, sql } from "kysely"
import { isContentDigest } from "../../../json/digests.ts"
import type { CatalogDatabase } from "../open-catalog.ts"
import type { ObjectKind } from "./objects-schema.ts"
import type { Catalog } from "../schema.ts"
import { listOf } from "../text-lists.ts"

export interface ObjectVersionRecord {
  object_id: string
  digest: string
  kind: ObjectKind
  version_index: number
  is_latest: boolean
  base_object_class: string | null
  leaf_object_class: string | null
  /** JSON text; null when it was not asked for. */
  val: string | null
  size_bytes: number
  wb_user_id: string
  created_at: Date
  deleted_at: Date | null
}

/** Name of a version: its digest, `latest`, `v<index>` or an alias. */
export interface VersionName {
  objectId: string
  version: string
  /** Only a version of this kind; a name may be an op's and an object's. */
  kind?: ObjectKind
  /** Where versions of both kinds have the name, the one of this kind. */
  preferred?: ObjectKind
}

const columns = [
  "object_id",
  "digest",
  "kind",
  "version_index",
  "is_latest",
  "base_object_class",
  "leaf_object_class",
  "size_bytes",
  "wb_user_id",
  "created_at",
  "deleted_at",
] as const

/**
 * The version of this name, also a deleted one; null: none. A name that two kinds share means the one published last,
 * unless a kind is preferred.
 */
export async function findVersion(
  database: CatalogDatabase,
  projectId: string,
  name: VersionName,
  withVal: boolean,
): Promise<ObjectVersionRecord | null> {
  const [row] = await versionQuery(database, projectId, name, withVal).execute()
  return row ?? null
}

function versionQuery(database: CatalogDatabase, projectId: string, name: VersionName, withVal: boolean) {
  return database
    .selectFrom("object_versions")
    .select(columns)
    .select(({ ref, val }) => (withVal ? ref("val") : val(null)).$castTo<string | null>().as("val"))
    .where("project_id", "=", projectId)
    .where("object_id", "=", name.objectId)
    .where((builder) => isNamed(builder, projectId, name))
    .$if(name.kind !== undefined, (query) => query.where("kind", "=", name.kind as ObjectKind))
    .$if(name.preferred !== undefined, (query) => query.orderBy(sql`kind <> ${name.preferred}`))
    .orderBy(sql`deleted_at is not null`)
    .orderBy("published", "desc")
    .limit(1)
}

/** The leaf class of the latest version of this name and kind, if it is one of `leafClasses`; else null. */
export async function leafClassAmong(
  database: CatalogDatabase,
  projectId: string,
  { objectId, kind }: { objectId: string; kind: ObjectKind },
  leafClasses: readonly string[],
): Promise<string | null> {
  const row = await database
    .selectFrom("object_versions")
    .select("leaf_object_class")
    .where("project_id", "=", projectId)
    .where("object_id", "=", objectId)
    .where("kind", "=", kind)
    .where("is_latest", "=", true)
    .executeTakeFirst()
  const leaf = row?.leaf_object_class ?? null
  return leaf !== null && leafClasses.includes(leaf) ? leaf : null
}

/** {@link findVersion} for many names, in their order. */
export async function findVersions(
  database: CatalogDatabase,
  projectId: string,
  names: readonly VersionName[],
  withVal: boolean,
): Promise<(ObjectVersionRecord | null)[]> {
  const digests = names.filter(({ version }) => isContentDigest(version))
  const byDigest = await findByDigest(database, projectId, digests, withVal)
  const others = names.filter(({ version }) => !isContentDigest(version))
  const byName = new Map<VersionName, ObjectVersionRecord>()
  for (let from = 0; from < others.length; from += namesAtOnce) {
    const some = others.slice(from, from + namesAtOnce)
    for (const { position, ...record } of await findNamed(database, projectId, some, withVal)) {
      byName.set(some[position] as VersionName, record)
    }
  }
  return names.map((name) => byDigest.get(`${name.objectId}:${name.version}`) ?? byName.get(name) ?? null)
}

/** Names per statement. With more of them PostgreSQL plans longer than it runs. */
const namesAtOnce = 100

/** The records that there are, each with the position of its name. */
async function findNamed(
  database: CatalogDatabase,
  projectId: string,
  names: readonly VersionName[],
  withVal: boolean,
) {
  const [first, ...rest] = names.map((name, position) =>
    database
      .selectFrom(versionQuery(database, projectId, name, withVal).as("version"))
      .selectAll()
      .select(sql.lit(position).as("position")),
  )
  return first === undefined ? [] : first.unionAll(rest).execute()
}

async function findByDigest(
  database: CatalogDatabase,
  projectId: string,
  names: readonly VersionName[],
  withVal: boolean,
) {
  if (names.length === 0) return new Map<string, ObjectVersionRecord>()
  const rows = await database
    .selectFrom("object_versions")
    .select(columns)
    .select(({ ref, val }) => (withVal ? ref("val") : val(null)).$castTo<string | null>().as("val"))
    .where("project_id", "=", projectId)
    .where(({ eb, refTuple, tuple }) =>
      eb(
        refTuple("object_id", "digest"),
        "in",
        names.map(({ objectId, version }) => tuple(objectId, version)),
      ),
    )
    .execute()
  return new Map(rows.map((row) => [`${row.object_id}:${row.digest}`, row]))
}

/** In the order of evaluation-store-objects 3.2; a name of no such form that is no alias is taken for a digest. */
function isNamed(builder: ExpressionBuilder<Catalog, "object_versions">, projectId: string, name: VersionName) {
  const { objectId, version } = name
  if (version === "latest") return builder("is_latest", "=", true)
  const index = /^v(\d{1,9})$/.exec(version)?.[1]
  if (index !== undefined) return builder("version_index", "=", Number(index))
  if (isContentDigest(version)) return builder("digest", "=", version)
  const aliased = builder
    .selectFrom("object_aliases as alias")
    .select("alias.digest")
    .where("alias.project_id", "=", projectId)
    .where("alias.object_id", "=", objectId)
    .where("alias.alias", "=", version)
  return builder.or([builder("digest", "=", version), builder("digest", "in", aliased)])
}

export interface ObjectFilter {
  baseObjectClasses: readonly string[]
  excludeBaseObjectClasses: readonly string[]
  leafObjectClasses: readonly string[]
  objectIds: readonly string[]
  isOp: boolean | null
  latestOnly: boolean
  /** Versions that have any of them. */
  tags: readonly string[]
  /** Versions that have any of them; `latest` counts as one. */
  aliases: readonly string[]
}

export interface ObjectListing {
  filter: ObjectFilter
  order: readonly { field: "object_id" | "created_at"; direction: "asc" | "desc" }[]
  limit: number | null
  offset: number
}

/** Live versions, without their values. Times tell apart only what milliseconds can; the order of publication decides. */
export async function listVersions(
  database: CatalogDatabase,
  projectId: string,
  { filter, order, limit, offset }: ObjectListing,
): Promise<ObjectVersionRecord[]> {
  let query = database
    .selectFrom("object_versions")
    .select(columns)
    .select(({ val }) => val(null).$castTo<string | null>().as("val"))
    .where("project_id", "=", projectId)
    .where("deleted_at", "is", null)
    .where((builder) => builder.and(conditions(builder, projectId, filter)))
    .offset(offset)
  for (const { field, direction } of order)
    query = query.orderBy(field === "created_at" ? "published" : field, direction)
  query = query.orderBy("published")
  return (limit === null ? query : query.limit(limit)).execute()
}

function conditions(builder: ExpressionBuilder<Catalog, "object_versions">, projectId: string, filter: ObjectFilter) {
  const all = []
  const { baseObjectClasses, excludeBaseObjectClasses, leafObjectClasses, objectIds, isOp, latestOnly } = filter
  if (baseObjectClasses.length > 0) all.push(builder("base_object_class", "in", listOf(baseObjectClasses)))
  if (excludeBaseObjectClasses.length > 0) {
    all.push(
      builder.or([
        builder("base_object_class", "is", null),
        builder("base_object_class", "not in", listOf(excludeBaseObjectClasses)),
      ]),
    )
  }
  if (leafObjectClasses.length > 0) all.push(builder("leaf_object_class", "in", listOf(leafObjectClasses)))
  if (objectIds.length > 0) all.push(builder("object_id", "in", listOf(objectIds)))
  if (isOp !== null) all.push(builder("kind", "=", isOp ? "op" : "object"))
  if (latestOnly) all.push(builder("is_latest", "=", true))
  if (filter.tags.length > 0) all.push(hasLabel(builder, projectId, "tag", filter.tags))
  if (filter.aliases.length > 0) {
    const named = hasLabel(builder, projectId, "alias", filter.aliases)
    all.push(filter.aliases.includes("latest") ? builder.or([builder("is_latest", "=", true), named]) : named)
  }
  return all
}

function hasLabel(
  builder: ExpressionBuilder<Catalog, "object_versions">,
  projectId: string,
  label: "tag" | "alias",
  values: readonly string[],
) {
  const version = builder.refTuple("object_id", "digest")
  if (label === "tag") {
    const tagged = builder.selectFrom("object_tags").select(["object_id", "digest"]).where("tag", "in", listOf(values))
    return builder(version, "in", tagged.where("project_id", "=", projectId).$asTuple("object_id", "digest"))
  }
  const aliased = builder
    .selectFrom("object_aliases")
    .select(["object_id", "digest"])
    .where("alias", "in", listOf(values))
  return builder(version, "in", aliased.where("project_id", "=", projectId).$asTuple("object_id", "digest"))
}

export interface VersionLabels {
  tags: string[]
  aliases: string[]
}

/** Tags and aliases of the versions, each sorted. */
export async function labelsOf(
  database: CatalogDatabase,
  projectId: string,
  versions: readonly { object_id: string; digest: string }[],
): Promise<(version: { object_id: string; digest: string }) => VersionLabels> {
  const labels = new Map<string, VersionLabels>()
  const of = ({ object_id, digest }: { object_id: string; digest: string }) => {
    const key = `${object_id}:${digest}`
    const known = labels.get(key) ?? { tags: [], aliases: [] }
    labels.set(key, known)
    return known
  }
  if (versions.length === 0) return of
  const objectIds = listOf([...new Set(versions.map((version) => version.object_id))])
  const digests = listOf([...new Set(versions.map((version) => version.digest))])
  const tags = await database
    .selectFrom("object_tags")
    .select(["object_id", "digest", "tag"])
    .where("project_id", "=", projectId)
    .where("object_id", "in", objectIds)
    .where("digest", "in", digests)
    .orderBy("tag")
    .execute()
  const aliases = await database
    .selectFrom("object_aliases")
    .select(["object_id", "digest", "alias"])
    .where("project_id", "=", projectId)
    .where("object_id", "in", objectIds)
    .where("digest", "in", digests)
    .orderBy("alias")
    .execute()
  for (const row of tags) of(row).tags.push(row.tag)
  for (const row of aliases) of(row).aliases.push(row.alias)
  return of
}

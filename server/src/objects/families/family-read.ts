/** Reading, listing and deleting the objects of a family: evaluation-store-objects 7. */
import type { Principal } from "../../http/principal.ts"
import { isJsonObject } from "../../json/parsed-json.ts"
import { listVersions, type ObjectVersionRecord } from "../../storage/catalog/objects/object-reads.ts"
import type { StoreDependencies } from "../dependencies.ts"
import type { ListRange } from "../requests/list-range.ts"
import { filterOf, isAmong, liveVersion, selected, versionNotFound } from "../object-read.ts"
import { withValues } from "../version-values.ts"
import { existingProject } from "../../access/project-access.ts"
import { sourceReader } from "../project/source-files.ts"
import { type FamilyMember, type ObjectFamily, sourceFileName } from "./family.ts"

/** The body of the answer. @throws {HeddleError} `not_found`, also for an object of another family. */
export async function readMember(
  dependencies: StoreDependencies,
  principal: Principal,
  family: ObjectFamily,
  { projectName, objectId, version }: { projectName: string; objectId: string; version: string },
): Promise<string> {
  const project = await existingProject(dependencies.database, principal, projectName)
  const name = { objectId, version, kind: family.selection.kind }
  const record = await liveVersion(dependencies.database, project.id, name, true)
  if (!isAmong(record, family.selection)) throw versionNotFound(name)
  for await (const [text] of textsOf(dependencies, project.id, family, [record])) return text
  throw versionNotFound(name)
}

/** JSON texts in batches: of the versions that live when the list begins, those that still do when it comes to them. */
export async function listMembers(
  dependencies: StoreDependencies,
  principal: Principal,
  family: ObjectFamily,
  projectName: string,
  range: ListRange,
): Promise<AsyncGenerator<string[]>> {
  const { database } = dependencies
  const project = await existingProject(database, principal, projectName)
  const isPart = range.limit !== null || range.offset > 0
  const listed = await listVersions(database, project.id, {
    filter: { ...filterOf({ project_id: projectName }), ...selected(family.selection) },
    order: isPart ? family.pagedOrder : [],
    ...range,
  })
  return memberTexts(dependencies, project.id, family, listed)
}

async function* memberTexts(
  dependencies: StoreDependencies,
  projectId: string,
  family: ObjectFamily,
  listed: readonly ObjectVersionRecord[],
): AsyncGenerator<string[]> {
  for await (const live of withValues(dependencies.database, projectId, listed)) {
    yield* textsOf(dependencies, projectId, family, live)
  }
}

/** One after another, since source code may be megabytes. Values without fields are left out. */
async function* textsOf(
  dependencies: StoreDependencies,
  projectId: string,
  family: ObjectFamily,
  records: readonly ObjectVersionRecord[],
): AsyncGenerator<[string]> {
  const members = records.flatMap((record) => memberOf(record) ?? [])
  const digests = family.hasSource ? members.flatMap((member) => sourceDigest(member) ?? []) : []
  const sourceOf = await sourceReader(dependencies, projectId, digests)
  for (const member of members) {
    const source = await sourceOf(sourceDigest(member) ?? "")
    yield [family.show(member, source ?? "")]
  }
}

function memberOf(record: ObjectVersionRecord): FamilyMember | null {
  const text = record.val ?? "null"
  const val: unknown = JSON.parse(text)
  return isJsonObject(val) ? { record, val, text } : null
}

function sourceDigest({ val }: FamilyMember): string | null {
  const file = isJsonObject(val["files"]) ? val["files"][sourceFileName] : null
  return typeof file === "string" ? file : null
}

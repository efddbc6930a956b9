import type { ExampleNames } from "../example-names.ts"
import type { Operations } from "../operation.ts"

const inPath = ({ entity, project }: ExampleNames) => ({ entity, project })

interface Family {
  /** As it stands in the path. */
  plural: string
  one: string
  of: (names: ExampleNames) => { object_id: string; digest: string }
}

const families: readonly Family[] = [
  { plural: "datasets", one: "a dataset", of: (h) => ({ object_id: h.datasetId, digest: h.datasetDigest }) },
  { plural: "models", one: "a model", of: (h) => ({ object_id: h.modelObjectId, digest: h.modelDigest }) },
  { plural: "ops", one: "an op", of: (h) => ({ object_id: h.opId, digest: h.opDigest }) },
  { plural: "scorers", one: "a scorer", of: (h) => ({ object_id: h.scorerId, digest: h.scorerDigest }) },
  {
    plural: "evaluations",
    one: "an evaluation",
    of: (h) => ({ object_id: h.evaluationId, digest: h.evaluationDigest }),
  },
]

function familyOperations({ plural, one, of }: Family): Operations {
  const path = `/v2/:entity/:project/${plural}`
  return {
    [`GET ${path}`]: {
      description: "Returns one version per line, every version of every name.",
      example: (names) => ({ params: inPath(names), query: { limit: "20" } }),
    },
    [`GET ${path}/:object_id/versions/:digest`]: {
      description: `Returns the description and the content of ${one}.`,
      example: (names) => ({ params: { ...inPath(names), ...of(names) } }),
    },
    [`DELETE ${path}/:object_id`]: {
      description: "Without `digests`, deletes every version. Refs to what was deleted are answered as deleted.",
      example: (names) => {
        const { object_id, digest } = of(names)
        return { params: { ...inPath(names), object_id }, query: { digests: digest } }
      },
    },
  }
}

export const objectOperations: Operations = {
  ...Object.assign({}, ...families.map(familyOperations)),
  "POST /obj/create": {
    description: "The same content under the same name is the same version. The answer's digest names it.",
    example: (h) => ({
      body: { obj: { project_id: h.projectId, object_id: h.objectId, val: { text: "Hello, {name}!" } } },
    }),
  },
  "POST /obj/read": {
    description: "Refs in the content stay refs: `/refs/read_batch` follows them.",
    example: (h) => ({ body: { project_id: h.projectId, object_id: h.objectId, digest: "latest" } }),
  },
  "POST /objs/query": {
    description: "Finds versions by class, name, tag or alias; with `latest_only`, one for each name.",
    example: ({ projectId: project_id }) => ({
      body: { project_id, filter: { latest_only: true, is_op: false }, metadata_only: true, limit: 20 },
    }),
  },
  "POST /obj/delete": {
    description: "The bytes are free again a day later, unless another version has the same.",
    example: (h) => ({ body: { project_id: h.projectId, object_id: h.objectId, digests: [h.objectDigest] } }),
  },
  "PUT /objs/:object_id/versions/:digest/tags": {
    description: "Tags that the version has already stay. The digest must be written out.",
    example: (h) => ({
      params: { object_id: h.objectId, digest: h.objectDigest },
      body: { project_id: h.projectId, tags: [h.tag] },
    }),
  },
  "POST /objs/:object_id/versions/:digest/tags/remove": {
    description: "Tags that the version does not have are no error.",
    example: (h) => ({
      params: { object_id: h.objectId, digest: h.objectDigest },
      body: { project_id: h.projectId, tags: [h.tag] },
    }),
  },
  "PUT /objs/:object_id/aliases": {
    description: "An alias that named another version of the object names this one from now on.",
    example: (h) => ({
      params: { object_id: h.objectId },
      body: { project_id: h.projectId, digest: h.objectDigest, aliases: [h.alias] },
    }),
  },
  "POST /objs/:object_id/aliases/remove": {
    description: "Aliases that are not there are no error.",
    example: (h) => ({ params: { object_id: h.objectId }, body: { project_id: h.projectId, aliases: [h.alias] } }),
  },
  "GET /tags": {
    description: "Lists the tags of all objects, each once.",
    example: ({ projectId: project_id }) => ({ query: { project_id } }),
  },
  "GET /aliases": {
    description: "Lists the aliases of all objects, each once.",
    example: ({ projectId: project_id }) => ({ query: { project_id } }),
  },
  "POST /link_to_registry": {
    description: "A registry is a project, a collection an object in it.",
    example: (h) => ({
      body: {
        ref: h.objectRef,
        target: { portfolio_name: h.objectId, entity_name: h.entity, project_name: h.project },
        aliases: [h.alias],
      },
    }),
  },
  "POST /v2/:entity/:project/datasets": {
    description: "Rows become a table; the dataset has its ref.",
    example: (h) => ({
      params: inPath(h),
      body: { name: h.datasetId, rows: [{ question: "4+5=", answer: "9" }] },
    }),
  },
  "POST /v2/:entity/:project/models": {
    description: "`attributes` are the settings of this version, such as its prompt.",
    example: (h) => ({
      params: inPath(h),
      body: { name: h.modelObjectId, source_code: "def predict(question): ...", attributes: { prompt: "Answer:" } },
    }),
  },
  "POST /v2/:entity/:project/ops": {
    description: "The program is kept for its readers; the server never runs it.",
    example: (h) => ({ params: inPath(h), body: { name: h.opId, source_code: "def answer(question): ..." } }),
  },
  "POST /v2/:entity/:project/scorers": {
    description:
      "A scorer of code, which the server never runs. Judges that it runs are objects of the class `LLMAsAJudgeScorer`.",
    example: (h) => ({
      params: inPath(h),
      body: { name: h.scorerId, op_source_code: "def score(output, answer): return output == answer" },
    }),
  },
  "POST /v2/:entity/:project/evaluations": {
    description: "What to ask (a dataset) and how to judge the answers (scorers). Models are evaluated under it.",
    example: (h) => ({
      params: inPath(h),
      body: { name: h.evaluationId, dataset: h.datasetRef, scorers: [h.scorerRef], trials: 1 },
    }),
  },
  "POST /dataset_sources/link": {
    description: "A link belongs to the dataset's name, whatever its version.",
    example: (h) => ({
      body: {
        project_id: h.projectId,
        dataset_object_id: h.datasetId,
        dataset_digest: h.datasetDigest,
        links: [
          {
            row_digest: h.rowDigest,
            sources: [{ source_kind: "call", source_id: h.callId, source_trace_id: h.traceId }],
          },
        ],
      },
    }),
  },
  "POST /dataset_sources/link_delete": {
    description: "The rows and their sources stay.",
    example: (h) => ({ body: { project_id: h.projectId, link_ids: [h.linkId] } }),
  },
  "POST /dataset_sources/query": {
    description: "Returns the calls, spans and conversations that each row came from.",
    example: (h) => ({ body: { project_id: h.projectId, dataset_object_id: h.datasetId } }),
  },
  "POST /dataset_sources/source_datasets_query": {
    description: "Returns which datasets have rows that came from the given sources.",
    example: (h) => ({
      body: {
        project_id: h.projectId,
        sources: [{ source_kind: "call", source_id: h.callId, source_trace_id: h.traceId }],
      },
    }),
  },
  "POST /table/create": {
    description: "The digest depends on the rows alone: the same rows are the same table.",
    example: ({ projectId: project_id }) => ({
      body: { table: { project_id, rows: [{ question: "4+5=", answer: "9" }] } },
    }),
  },
  "POST /table/update": {
    description: "Tables never change: the answer names a new one.",
    example: (h) => ({
      body: {
        project_id: h.projectId,
        base_digest: h.tableDigest,
        updates: [{ append: { row: { question: "7+1=", answer: "8" } } }],
      },
    }),
  },
  "POST /table/create_from_digests": {
    description: "Rows that are stored already need not be sent again.",
    example: (h) => ({ body: { project_id: h.projectId, row_digests: [h.rowDigest] } }),
  },
  "POST /table/query": {
    description: "Returns the rows in their order, or sorted by a field.",
    example: (h) => ({ body: { project_id: h.projectId, digest: h.tableDigest, limit: 100 } }),
  },
  "POST /table/query_stream": {
    description: "Returns what `/table/query` does, one row per line.",
    example: (h) => ({ body: { project_id: h.projectId, digest: h.tableDigest } }),
  },
  "POST /table/query_stats": {
    description: "Counts the rows of one table.",
    example: (h) => ({ body: { project_id: h.projectId, digest: h.tableDigest } }),
  },
  "POST /table/query_stats_batch": {
    description: "Answers for many tables at once.",
    example: (h) => ({ body: { project_id: h.projectId, digests: [h.tableDigest] } }),
  },
  "POST /file/create": {
    description: "The digest depends on the bytes alone. Published objects name files by it.",
    example: ({ projectId: project_id }) => ({ form: { project_id, file: "bytes of the file" } }),
  },
  "POST /file/content": {
    description: "Returns the bytes as they were sent.",
    example: (h) => ({ body: { project_id: h.projectId, digest: h.fileDigest } }),
  },
  "POST /files/create": {
    description: "Does the same as `/file/create`.",
    example: ({ projectId: project_id }) => ({ form: { project_id, file: "bytes of the file" } }),
  },
  "POST /files/content": {
    description: "Does the same as `/file/content`.",
    example: (h) => ({ body: { project_id: h.projectId, digest: h.fileDigest } }),
  },
  "GET /files/content": {
    description:
      "The bytes under the `type` of the query, one of a closed list, always as a download: no browser takes them for a page. " +
      "One range of `Range` is answered with 206.",
    example: (h) => ({ query: { project_id: h.projectId, digest: h.fileDigest } }),
  },
  "POST /files/query_stats": {
    description: "A file counts once, however many objects name it.",
    example: ({ projectId: project_id }) => ({ body: { project_id } }),
  },
  "POST /files/resolve_url": {
    description: "For pages and players, which cannot send a key.",
    example: (h) => ({ body: { project_id: h.projectId, uris: [h.fileDigest] } }),
  },
  "GET /files/download/:token": {
    description: "The address is good until its time is over, or the key that made it is revoked.",
    example: () => ({ params: { token: "token-of-an-address-that-resolve_url-gave" } }),
  },
  "POST /refs/read_batch": {
    description: "The answer has a value for each ref, in their order. The refs may be of several projects.",
    example: (h) => ({ body: { refs: [h.objectRef, h.datasetRef] } }),
  },
}

/** Meanings of fields that say where something is, and of list pages. */
import type { Meanings } from "./meanings.ts"

export const sharedMeanings: Meanings = {
  everywhere: {
    project_id: "The project, as `entity/project`, such as `local/demo`.",
    entity: "Team or user that owns the project.",
    project: "Name of the project within its entity.",
    ended_at: "When it ended, ISO 8601; null: it has not.",
  },
  requests: {
    username: "Name of a user.",
    team: "Name of a team.",
    limit: "The most items to answer; absent: the default, or all of them where there is none.",
    offset: "How many items to leave out at the beginning.",
    after: "Id of the last item of the page before: the answer begins behind it.",
    page: "`next_page` of the answer before.",
    order: "By time: `asc` is the oldest first.",
    sort_by: "Fields to sort by, the first one before the next.",
    direction: "`asc` or `desc`.",
    filter: "Which items: each field that is given must match.",
    filters: "Conditions that must hold.",
    query: 'An expression that must hold, such as `{"$expr": {"$eq": [{"$getField": "op_name"}, {"$literal": "x"}]}}`.',
    fields: "Which fields to answer; absent: all of them.",
    columns: "Which fields of calls to answer, paths such as `inputs.question` among them; absent: all of them.",
    expand_columns: "Fields that hold refs, to be replaced by the values behind them.",
    return_expanded_column_values:
      "Whether the values behind `expand_columns` are answered, or only used by filters and sorts.",
    "*": "Name of the model, with its slashes.",
    field: "Name or dotted path of the field.",
  },
  answers: {
    first_id: "Id of the first item of `data`; empty without items.",
    last_id: "Id of the last item of `data`, for `after` of the next page; empty without items.",
    has_more: "Whether more items follow behind this page.",
    next_page: "For `page` of the next request; null: this is the last page.",
    total_count: "How many match, before `limit` and `offset`.",
    updated_at: "When it was last changed.",
    deleted_at: "When it was deleted; null: it was not.",
    deleted: "true: it was there and is gone now.",
    created_by: "Id of the user who made it.",
    added_by: "Id of the user who added it.",
    wb_user_id: "Id of the user whose key made it.",
    started_at: "When it began.",
  },
}

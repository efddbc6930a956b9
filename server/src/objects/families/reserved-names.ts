/** Names that no attribute of a client's own may have: fields of the server. */

export const modelFieldNames: ReadonlySet<string> = new Set([
  "_type",
  "_class_name",
  "_bases",
  "name",
  "description",
  "files",
])

export const evaluationFieldNames: ReadonlySet<string> = new Set([
  "evaluate",
  "predict_and_score",
  "summarize",
  "_type",
  "name",
  "description",
  "dataset",
  "scorers",
  "preprocess_model_input",
  "trials",
  "metadata",
  "evaluation_name",
  "_class_name",
  "_bases",
])

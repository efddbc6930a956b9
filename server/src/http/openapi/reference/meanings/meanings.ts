/** Descriptions of the fields of one part of the API. */
export interface Meanings {
  /** By name: what it means wherever it stands, in requests and in answers. */
  everywhere?: FieldMeanings
  /** By name: what it means in every request that has it. */
  requests?: FieldMeanings
  /** By name: what it means in every answer that has it. */
  answers?: FieldMeanings
  /**
   * By schema, or the path of a part within one (`EvalResults.rows.evaluations`): what it means there alone. A key may name
   * several, with commas between them.
   */
  schemas?: Readonly<Record<string, FieldMeanings>>
}

type FieldMeanings = Readonly<Record<string, string>>

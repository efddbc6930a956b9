/** Exact numbers in JSON, which the library of TypeScript does not declare yet. */
interface JSON {
  rawJSON(text: string): { readonly rawJSON: string }
  isRawJSON(value: unknown): value is { readonly rawJSON: string }
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown
}

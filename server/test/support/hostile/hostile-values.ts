/** Values that programs tend to handle badly. */

export interface HostileValue {
  name: string
  /**
   * The value as JSON text, for the spellings that `JSON.stringify` never writes. `own`: the valid value that it
   * replaces.
   */
  json: (own: unknown) => string
  /** The value in a path, a query, a header or a form; null when only JSON has it. */
  text: string | null
  /** The kind of value that it replaces; by default every kind. */
  only?: "list" | "object"
}

const long = 100_000

const texts: Readonly<Record<string, string>> = {
  "the text __proto__": "__proto__",
  "the text constructor": "constructor",
  "the text toString": "toString",
  "a path through __proto__": "inputs.__proto__.constructor",
  "half of a surrogate pair": "\ud800",
  "half of a surrogate pair inside a text": "a\udc00b",
  "a NUL": "\0",
  "a NUL inside a text": "a\0b",
  "an empty text": "",
  "a space": " ",
  "a text of 100,000 characters": "a".repeat(long),
  "a path of 200 places": `inputs${".a".repeat(199)}`,
  "a path of 200 indexes": `inputs${".0".repeat(199)}`,
  "a path of empty places": ".".repeat(200),
  "a ref of another form": "weave:///a/b/object/",
  "a percent sign": "%",
  "an upward path": "../../etc/passwd",
  "a quotation": `'"\`\\`,
  "a time before all others": "0000-01-01T00:00:00Z",
  "a time after all others": "+275760-09-13T00:00:00.001Z",
  "the text NaN": "NaN",
}

const keys: readonly (keyof typeof texts)[] = [
  "half of a surrogate pair",
  "a NUL",
  "an empty text",
  "a text of 100,000 characters",
  "a path of 200 places",
]

const spellings =
  "-1 0 -0 0.5 1e308 -1e308 1e400 1e-320 9007199254740993 18446744073709551616 NaN Infinity -Infinity null true"

const structures: Readonly<Record<string, string>> = {
  "an empty list": "[]",
  "an empty object": "{}",
  "a member __proto__": '{"__proto__":{"a":1}}',
  "a member constructor": '{"constructor":{"prototype":{"a":1}}}',
  "200 lists in each other": "[".repeat(200) + "]".repeat(200),
  "200 objects in each other": '{"a":'.repeat(200) + "1" + "}".repeat(200),
}

export const hostileValues: readonly HostileValue[] = [
  ...Object.entries(texts).map(([name, text]) => ({ name, json: () => JSON.stringify(text), text })),
  ...spellings.split(" ").map((spelling) => ({ name: spelling, json: () => spelling, text: spelling })),
  ...Object.entries(structures).map(([name, json]) => ({ name, json: () => json, text: null })),
  { name: "more members, named like those of every object", json: withInherited, text: null, only: "object" },
  ...keys.map((key): HostileValue => ({
    name: `one more member, named ${key}`,
    json: (own) => withMember(own, texts[key] ?? ""),
    text: null,
    only: "object",
  })),
  {
    name: "a list of 100,000 times its first item",
    json: (own) => `[${repeated(JSON.stringify(Array.isArray(own) && own.length > 0 ? own[0] : null))}]`,
    text: null,
    only: "list",
  },
  {
    name: "a list of 100,000 different texts",
    json: () => JSON.stringify(Array.from({ length: long }, (_, index) => `t${index}`)),
    text: null,
    only: "list",
  },
]

const repeated = (item: string) => Array<string>(long).fill(item).join(",")

function withInherited(own: unknown): string {
  return withMembers(own, '"__proto__":{"a":1},"constructor":"a","toString":1')
}

/** Adds a member with the value of the first one, which is valid where keys are free. */
function withMember(own: unknown, key: string): string {
  const [first = null] = typeof own === "object" && own !== null ? (Object.values(own) as unknown[]) : []
  return withMembers(own, `${JSON.stringify(key)}:${JSON.stringify(first)}`)
}

function withMembers(own: unknown, added: string): string {
  const isObject = typeof own === "object" && own !== null && !Array.isArray(own)
  const members = isObject ? JSON.stringify(own).slice(1, -1) : ""
  return members === "" ? `{${added}}` : `{${added},${members}}`
}

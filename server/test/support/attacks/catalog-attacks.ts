/** H1 and H4: small requests that need many queries of the catalog, or never end. */
import { type Attack, type AttackRequest, type BySize, json, times } from "./attack.ts"

const graphql = (query: string): AttackRequest => ({ path: "/graphql", body: json({ query }) })

/** A query with 2 to the power of `levels` fields, because each fragment spreads the next one twice. */
function doublingFragments(levels: number): string {
  const chain = times(levels, (n) => `fragment f${n} on Query{...f${n + 1} ...f${n + 1}}`)
  return `{...f0}${chain.join("")}fragment f${levels} on Query{viewer{id}}`
}

function fragments(name: string, levels: number): Attack {
  return {
    name,
    does: `GraphQL fragments that double ${levels} times`,
    // GraphQL errors are in the body of a 200.
    answers: [200],
    lasts: "shortly",
    requests: async () => [graphql(doublingFragments(levels))],
  }
}

function projectNames(name: string, count: number, connections: BySize, answers: readonly number[]): Attack {
  return {
    name,
    does: `${count} names of projects in one request`,
    answers,
    lasts: "shortly",
    requests: async ({ attacker }, size) => {
      const body = json({ project_ids: times(count, (n) => `${attacker.name}/x-${n}`) })
      return times(connections[size], () => ({ path: "/service/projects_info", body }))
    },
  }
}

function aliases(name: string, count: number, connections: BySize): Attack {
  return {
    name,
    does: `${count} projects made by one GraphQL mutation`,
    answers: [200],
    lasts: "shortly",
    requests: async (_, size) => {
      const making = times(count, (n) => `m${n}:upsertModel(input:{name:"made-${n}"}){inserted}`)
      return times(connections[size], () => graphql(`mutation{${making.join(" ")}}`))
    },
  }
}

export const catalogAttacks: readonly Attack[] = [
  fragments("H1-fragments", 27),
  fragments("H1-most-fragments", 400),
  projectNames("H4-names", 20_000, { full: 1, small: 1 }, [422]),
  projectNames("H4-allowed-names", 1_000, { full: 16, small: 4 }, [200]),
  aliases("H4-aliases", 300, { full: 1, small: 1 }),
  aliases("H4-allowed-aliases", 20, { full: 16, small: 4 }),
]

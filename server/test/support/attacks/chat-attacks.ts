/** H8 and M1: chats that keep the engine at work. */
import { type Attack, type AttackRequest, type BySize, json, type Manner, times } from "./attack.ts"
import { absentBases, hostileBase, type HostileTemplate } from "./hostile-bases.ts"
import { askServer } from "./teams.ts"

const path = "/v1/chat/completions"

function chatBody(fields: object): Buffer {
  return json({ model: "heddle/tiny", messages: [{ role: "user", content: "3 + 4 = ?" }], ...fields })
}

function chat(fields: object, manner: Manner = "reads"): AttackRequest {
  return { path, body: chatBody(fields), manner }
}

interface Batch {
  name: string
  connections: BySize
  n: number
  tokens: BySize
}

const manyChoices = ({ name, connections, n, tokens }: Batch): Attack => ({
  name,
  does: `chats of ${n} long choices`,
  onChat: true,
  answers: [200],
  lasts: "a while",
  requests: async (_, size) => times(connections[size], () => chat({ n, max_tokens: tokens[size], ignore_eos: true })),
})

const unreadStreams: Attack = {
  name: "H8-unread",
  does: "many streams of 4 long choices, which nobody reads",
  onChat: true,
  answers: [200],
  lasts: "until left",
  requests: async (_, size) =>
    times(size === "full" ? 300 : 60, () =>
      chat({ n: 4, max_tokens: size === "full" ? 400 : 100, ignore_eos: true, stream: true }, "does not read"),
    ),
}

/** Chats with another pattern at each turn, since the engine keeps compiled patterns. */
const patterns: Attack = {
  name: "H8-patterns",
  does: "chats held to a pattern that takes long to compile",
  onChat: true,
  answers: [200, 400],
  lasts: "a while",
  requests: async (_, size) =>
    times(size === "full" ? 16 : 8, (n) => ({
      path,
      body: (turn) => chatBody({ guided_regex: `${".*".repeat(2_000)}${n}-${turn}`, max_tokens: 2 }),
    })),
}

const choices: Attack = {
  name: "H8-long-list",
  does: "chats held to a list of thousands of long texts",
  onChat: true,
  answers: [200, 400, 413],
  lasts: "shortly",
  requests: async (_, size) =>
    times(size === "full" ? 8 : 2, (n) => ({
      path,
      body: chatBody({
        guided_choice: times(size === "full" ? 9_999 : 2_000, (text) => `${n}-${text}-${"x".repeat(5_000)}`),
        max_tokens: 2,
      }),
    })),
}

const absentModels: Attack = {
  name: "H8-hub",
  does: "models on bases that a hub would have which never answers",
  onChat: true,
  answers: [422, 502, 504],
  lasts: "a while",
  requests: async () =>
    absentBases.map((base_model, n) => ({
      path: "/v1/preview/models",
      body: json({ project: "attacks", name: `absent-${n}`, base_model }),
    })),
}

function template(name: HostileTemplate, does: string, lasts: Attack["lasts"]): Attack {
  return {
    name: `M1-${name}`,
    does,
    onChat: true,
    answers: [200, 400, 404],
    lasts,
    requests: async ({ url, attacker, bases }) => {
      const model = { project: "attacks", name, base_model: hostileBase(bases, name) }
      // The server may already refuse this request.
      await askServer(url, attacker.key, "POST", "/v1/preview/models", model)
      return times(8, () => chat({ model: `wandb-artifact:///${attacker.project}/${name}:step0`, max_tokens: 2 }))
    },
  }
}

export const chatAttacks: readonly Attack[] = [
  manyChoices({ name: "H8-64-choices", connections: { full: 4, small: 8 }, n: 64, tokens: { full: 300, small: 100 } }),
  manyChoices({ name: "H8-16-choices", connections: { full: 32, small: 16 }, n: 16, tokens: { full: 200, small: 50 } }),
  unreadStreams,
  patterns,
  choices,
  absentModels,
  template("loops", "chat templates of 15 million loops", "a while"),
  template("endless", "chat templates that never end", "a while"),
  template("long-text", "chat templates that make a text of 100 MB", "shortly"),
]

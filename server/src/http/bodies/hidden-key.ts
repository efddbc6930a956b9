/**
 * Writes over the key of a request wherever its body has it, so that what is stored gives nobody the rights of the key.
 *
 * npm weave 0.11.1 stores the object whose method was called as `inputs.self`: of the clients of OpenAI and Anthropic that
 * it traces by itself, the whole client with its key (`integrations/openai.js`, `integrations/anthropic.js`); of a model with a
 * client among its properties it publishes that one. Who may read the project would have read a key that may write, or an
 * administrator's.
 *
 * As many bytes as before, so JSON and protobuf stay what they are. A key is made of `A-Za-z0-9_-`, which JSON does not
 * escape; one that is spelled with escapes all the same is not found.
 */
const star = "*".charCodeAt(0)

export function hideKey(body: Buffer, key: string): void {
  for (let at = body.indexOf(key); at >= 0; at = body.indexOf(key, at + key.length))
    body.fill(star, at, at + key.length)
}

/**
 * Flags of Node for every server that is started here: by `npm start`, the demo and the benchmarks.
 *
 * V8 collects garbage when its space of new objects is full. Until then the small objects of request and response
 * bodies keep their large buffers, which lie outside that space, from being freed. After the same 2,000 calls, 1,000
 * spans and 60 queries, 915 and 1,195 MB were resident with V8's default size, and 812 MB with this one.
 */
export const serverFlags = ["--max-semi-space-size=16"]

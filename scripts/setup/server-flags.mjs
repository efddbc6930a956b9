/** How every server is started here: by `npm start`, the demo and the benchmarks. */

/**
 * Flags of Node.
 *
 * V8 collects garbage when its space of new objects is full. Until then the small objects of request and response
 * bodies keep their large buffers, which lie outside that space, from being freed. After the same 2,000 calls, 1,000
 * spans and 60 queries, 915 and 1,195 MB were resident with V8's default size, and 812 MB with this one.
 */
export const serverFlags = [
  "--max-semi-space-size=16",
  // Of node:ffi, which only server/src/freed-memory.ts uses.
  "--disable-warning=ExperimentalWarning",
]

/**
 * Settings of glibc's allocator; other systems have no such variables. When a block of several megabytes is freed, glibc
 * from then on keeps as much in each of its heaps; with these settings it keeps less. Of a fresh server 740 to 780 MB were
 * resident without them, and 680 MB with them. Smaller ones (128 KiB each: 640 MB) take requests of 200 KB from the system
 * anew each time. The engine does not get them.
 */
export const serverEnvironment = { MALLOC_TRIM_THRESHOLD_: `${8 * 1024 ** 2}`, MALLOC_MMAP_THRESHOLD_: `${1024 ** 2}` }

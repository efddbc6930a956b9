/** Makes null of the error about a file that was removed since it was listed: `.catch(noneIfGone)`. Throws any other. */
export function noneIfGone(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null
  throw error
}

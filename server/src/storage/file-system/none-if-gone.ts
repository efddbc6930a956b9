/** Makes null of the error about a file or folder that is not there, or no longer: `.catch(noneIfGone)`. Throws any other. */
export function noneIfGone(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null
  throw error
}

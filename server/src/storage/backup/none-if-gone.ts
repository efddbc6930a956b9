/** For a file that was removed since it was listed: `.catch(noneIfGone)`. What else went wrong is thrown on. */
export function noneIfGone(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT") return null
  throw error
}

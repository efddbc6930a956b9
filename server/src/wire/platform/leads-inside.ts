/**
 * Whether the path of a file that the wandb client sends leads out of no folder that it is taken in. On Windows neither, where
 * backslashes divide paths too and `C:x` is in the current folder of another drive.
 */
export function leadsInside(path: string): boolean {
  return !/^(?:[A-Za-z]:|[\\/])/.test(path) && !path.split(/[\\/]/).includes("..")
}

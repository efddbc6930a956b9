/** The code of pages, which is loaded when somebody goes there. */
import { lazyRouteComponent } from "@tanstack/react-router"

/** It was not loaded: the server does not answer, or is another version than the one whose page this is. */
export class PageCodeError extends Error {
  override readonly name = "PageCodeError"
}

/**
 * The component that a module exports under a name. What the router does by itself when a module is not there, to reload at
 * once, would put the browser's own error in the place of the page while the server is away.
 */
export function pageCode<Module extends Record<string, unknown>, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
) {
  return lazyRouteComponent(async () => {
    try {
      return await load()
    } catch (error) {
      throw new PageCodeError("The code of this page was not loaded.", { cause: error })
    }
  }, name)
}

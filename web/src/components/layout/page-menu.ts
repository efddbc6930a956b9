import { createContext, type ReactNode } from "react"

/** Way to the other pages on narrow screens, which have no navigation; the frame gives it to the page's head. */
export const PageMenu = createContext<ReactNode>(null)

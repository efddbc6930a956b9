import { createContext, type ReactNode } from "react"

/** What leads to the other pages where a narrow screen has no navigation; the frame gives it to the head of the page. */
export const PageMenu = createContext<ReactNode>(null)

/** Starts the interface. */
import { QueryClientProvider } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { watchSignIns } from "./api/last-user.ts"
import { queryClient } from "./api/queries.ts"
import { listenForKeys } from "./keys/keyboard.ts"
import { router } from "./routes.tsx"
import "./styles/fonts.css"
import "./styles/tokens.css"
import "./styles/base.css"

const root = document.querySelector("#root")
if (root === null) throw new Error("the page has no element #root")

listenForKeys(document)
watchSignIns()
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)

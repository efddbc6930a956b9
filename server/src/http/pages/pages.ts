/**
 * The web interface: its built files, and the one HTML file that answers every page address.
 *
 * The file is written for each answer: it gets a nonce for the few styles that libraries add by themselves, the theme that
 * was chosen, and a base that is relative to the address. A relative base holds behind any proxy, also one that takes a
 * path off and does not say so.
 */
import staticFiles from "@fastify/static"
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify"
import { randomBytes } from "node:crypto"
import { readFile } from "node:fs/promises"
import path from "node:path"
import { isOfApi, isPagePath, wantsPage } from "./page-paths.ts"
import { pagesMissing } from "./pages-missing.ts"

const daySeconds = 24 * 3600
const yearSeconds = 365 * daySeconds

/** @param folder what the build wrote; it may come only after the server has started. */
export async function registerPages(server: FastifyInstance, folder: string): Promise<void> {
  await server.register(staticFiles, {
    root: path.join(folder, "assets"),
    prefix: "/assets/",
    // Each name holds a digest of its content.
    immutable: true,
    maxAge: yearSeconds * 1000,
    preCompressed: true,
    index: false,
    dotfiles: "deny",
    // The folder may not be there yet.
    suppressWarning: true,
  })
  server.get("/", (request, reply) =>
    wantsPage(request.method, request.headers.accept)
      ? answerPage(folder, request, reply)
      : reply.send({ name: "Heddle", docs: "/docs/", openapi: "/openapi.json" }),
  )
  // Its name stays when it changes, so not for a year; but browsers ask for it whenever the address changes.
  server.get("/favicon.svg", (_request, reply) =>
    reply.sendFile("favicon.svg", folder, { immutable: false, maxAge: daySeconds * 1000 }),
  )
  server.get("/*", (request, reply) => {
    // The address as it was sent too: `/traces/…` is the API, of which `request.url` has lost the first segment.
    const isOther = [request.url, request.originalUrl].some((url) => isOfApi(pathOf(url)))
    const isPage = !isOther && wantsPage(request.method, request.headers.accept)
    return isPage ? answerPage(folder, request, reply) : reply.callNotFound()
  })
}

/** A page that does not exist is told by the interface itself, in the frame of the others. */
async function answerPage(folder: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const served = pathOf(request.url)
  const requested = pathOf(request.originalUrl)
  // `/heddle` of a prefix: relative addresses need the slash.
  if (served === "/" && !requested.endsWith("/"))
    return reply.redirect(`./${requested.slice(requested.lastIndexOf("/") + 1)}/`)
  const nonce = randomBytes(16).toString("base64")
  reply
    .type("text/html; charset=utf-8")
    .header("content-security-policy", contentSecurityPolicy(nonce))
    .header("cache-control", "no-cache")
    .header("referrer-policy", "same-origin")
    .header("cross-origin-opener-policy", "same-origin")
  const template = await readFile(path.join(folder, "index.html"), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null
    throw error
  })
  if (template === null) return reply.code(503).header("retry-after", "2").send(pagesMissing(nonce))
  const values: Record<string, string> = { nonce, base: baseOf(served), theme: themeOf(request.headers.cookie) }
  const page = template.replaceAll(/\{\{(\w+)\}\}/g, (whole, name: string) => values[name] ?? whole)
  return reply.code(isPagePath(served) ? 200 : 404).send(page)
}

/** Own files only; no inline script, no inline style but under the nonce, and user content reaches no frame. */
function contentSecurityPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "media-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'self'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ")
}

/** From the page's address to the server's root: `/a/b` → `../..`. */
function baseOf(served: string): string {
  return "../".repeat(served.split("/").length - 2) || "./"
}

/** The choice is a cookie so that the first paint has it: the policy forbids the inline script that would else read it. */
function themeOf(cookie: string | undefined): string {
  return /(?:^|; )heddle_theme=(light|dark)(?:;|$)/.exec(cookie ?? "")?.[1] ?? "system"
}

function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? "/"
}

/** The body of a request that links rows to their sources, read so that metadata stays the text it came as (law 3). */
import { z } from "zod"
import { HeddleError } from "../../errors.ts"
import { withoutNotFinite } from "../../json/json-parts.ts"
import { datasetSourceLinkBody } from "../../wire/objects/dataset-source.ts"
import { bodyTask } from "../payload/body-task.ts"
import { objectTextOrNull, readBody } from "../requests/request-text.ts"

/** Made or taken back by one request. */
export const mostLinks = 1000
/** Limit on the metadata that one request stores: each source of a link keeps a copy. */
const mostMetadataBytes = 32 * 1024 * 1024

type LinkBody = z.output<typeof datasetSourceLinkBody>

/** A link for each source. */
export interface LinkRequest extends Omit<LinkBody, "links"> {
  links: LinkItem[]
}

export interface LinkItem {
  rowDigest: string
  source: LinkBody["links"][number]["sources"][number]
  /** JSON text. */
  metadata: string | null
}

const linkText = datasetSourceLinkBody.extend({
  links: z.array(datasetSourceLinkBody.shape.links.element.extend({ link_metadata: z.string().nullish() })),
})

/** @throws {HeddleError} 400, 413, 422. */
function readLinks(bytes: Buffer): LinkRequest {
  const takers = { "links.*.link_metadata": objectTextOrNull(["body", "links", "link_metadata"]) }
  const body = readBody(linkText, bytes, takers)
  const count = body.links.reduce((sum, { sources }) => sum + sources.length, 0)
  if (count > mostLinks) {
    throw new HeddleError("payload_too_large", `${count} links in one request; send at most ${mostLinks}`)
  }
  const links = body.links.flatMap(({ row_digest, sources, link_metadata }) => {
    const metadata = link_metadata == null ? null : withoutNotFinite(link_metadata)
    return sources.map((source) => ({ rowDigest: row_digest, source, metadata }))
  })
  checkMetadata(links)
  return { ...body, links }
}

function checkMetadata(links: readonly LinkItem[]): void {
  const bytes = links.reduce((sum, { metadata }) => sum + (metadata === null ? 0 : Buffer.byteLength(metadata)), 0)
  if (bytes <= mostMetadataBytes) return
  throw new HeddleError(
    "payload_too_large",
    `the links of the request keep ${bytes} bytes of link_metadata, one copy for each source; at most ${mostMetadataBytes}`,
  )
}

export const linksTask = bodyTask("dataset sources/link", readLinks)

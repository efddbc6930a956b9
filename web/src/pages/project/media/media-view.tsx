/**
 * One picture, sound, film, text or file of a payload. Nothing in it runs: pictures are `<img>`, texts are text, and
 * anything else is saved. What lies on another host is named and never loaded.
 */
import { Download, File, FileAudio, FileImage, FileText, FileVideo, Link, type LucideIcon } from "lucide-react"
import { type ReactNode, useState } from "react"
import { fileAddress, useFileStart } from "../../../api/files.ts"
import { classNames } from "../../../components/class-names.ts"
import { Button } from "../../../components/controls/button.tsx"
import { DownloadButton } from "../../../components/controls/download-button.tsx"
import { saveFile } from "../../../components/controls/save-file.ts"
import { Dialog } from "../../../components/layers/dialog.tsx"
import { Icon } from "../../../components/signs/icon.tsx"
import { LongText } from "../../../components/text/long-text.tsx"
import { OuterLink } from "../../../components/text/link.tsx"
import { Markdown } from "../../../components/text/markdown.tsx"
import { formatBytes } from "../../../format/sizes.ts"
import { byteCount, bytesOf, usualLetters } from "../../../media/base64.ts"
import { contentMetadata } from "../../../media/content-metadata.ts"
import type { Media } from "../../../media/media.ts"
import { kindOf, type MediaKind, shownType } from "../../../media/media-types.ts"
import { fileOf } from "./media-file.ts"
import styles from "./media-view.module.css"

interface MediaViewProps {
  /** `entity/project`, whose files a digest names. */
  project: string
  media: Media
  /** What it is called here: where it stands in its payload, such as "image". */
  place: string
}

const metadataBytes = 20_000
const textBytes = 20_000

export function MediaView({ project, media, place }: MediaViewProps) {
  const { source } = media
  if (source.at === "link") return <LinkView url={source.url} what={media.name} place={place} />
  if (source.at === "file" && source.metadata !== null) {
    return <ContentView project={project} media={media} place={place} metadata={source.metadata} />
  }
  return <KnownView project={project} media={media} place={place} size={null} />
}

/** Its type and name are in a file of their own. */
function ContentView({ metadata, ...props }: MediaViewProps & { metadata: string }) {
  const { project, media, place } = props
  const said = useFileStart({ project, digest: metadata }, metadataBytes, true)
  if (said.isPending) return <Card place={place} facts={[]} icon={File} />
  const known = said.data === undefined ? null : contentMetadata(said.data.text)
  return <KnownView {...props} media={{ ...media, ...known }} size={known?.size ?? null} />
}

function KnownView({ project, media, place, size: said }: MediaViewProps & { size: number | null }) {
  const { source, name, type } = media
  const [isBroken, setBroken] = useState(false)
  const kind = isBroken ? "file" : kindOf(type)
  const bytes = source.at === "data" ? byteCount(source.base64) : said
  const size = bytes === null || kind === "text" || kind === "markdown" ? [] : [formatBytes(bytes)]
  const facts = [
    ...(isBroken ? ["cannot be shown"] : []),
    ...(name === "" || name === place ? [] : [name]),
    ...size,
    ...(type === "" ? [] : [type]),
  ]
  const shared = { place, facts, icon: icons[kind], save: <Save project={project} media={media} place={place} /> }
  if (kind === "markdown" || kind === "text") {
    return <TextView {...shared} project={project} media={media} isMarkdown={kind === "markdown"} />
  }
  const address = addressIn(project, media)
  if (address === null || kind === "file") return <Card {...shared} />
  return (
    <Card {...shared}>
      {kind === "image" ? (
        <Picture {...shared} address={address} onBroken={() => setBroken(true)} />
      ) : kind === "audio" ? (
        // oxlint-disable-next-line jsx-a11y/media-has-caption -- payloads hold no captions
        <audio
          className={styles.audio}
          controls
          preload="metadata"
          src={address}
          aria-label={place}
          onError={() => setBroken(true)}
        />
      ) : (
        // oxlint-disable-next-line jsx-a11y/media-has-caption -- payloads hold no captions
        <video
          className={styles.video}
          controls
          preload="metadata"
          src={address}
          aria-label={place}
          onError={() => setBroken(true)}
        />
      )}
    </Card>
  )
}

const icons: Record<MediaKind, LucideIcon> = {
  image: FileImage,
  audio: FileAudio,
  video: FileVideo,
  markdown: FileText,
  text: FileText,
  file: File,
}

interface CardProps {
  place: string
  facts: readonly string[]
  icon: LucideIcon
  save?: ReactNode
  children?: ReactNode
}

function Card({ place, facts, icon, save, children }: CardProps) {
  return (
    <figure className={styles.card}>
      {children}
      <figcaption className={styles.caption}>
        {children === undefined && <Icon of={icon} size={16} />}
        <span className={styles.words}>
          <span className={styles.name} title={place}>
            {place}
          </span>
          <span className={styles.facts} title={facts.join(" · ")}>
            {facts.join(" · ")}
          </span>
        </span>
        {save}
      </figcaption>
    </figure>
  )
}

/** Smaller pictures are drawn larger, each of their pixels as a square. */
const tinyPixels = 64

interface PictureProps extends Omit<CardProps, "children"> {
  address: string
  onBroken: () => void
}

function Picture({ place, address, onBroken, save, facts }: PictureProps) {
  const [isOpen, setOpen] = useState(false)
  const [size, setSize] = useState<{ width: number; height: number } | null>(null)
  const isTiny = size !== null && Math.max(size.width, size.height) <= tinyPixels
  return (
    <>
      <button type="button" className={styles.picture} aria-label={`Open ${place} large`} onClick={() => setOpen(true)}>
        <img
          className={classNames(isTiny && styles.tiny)}
          src={address}
          alt={place}
          loading="lazy"
          decoding="async"
          onError={onBroken}
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
            setSize(naturalWidth === 0 ? null : { width: naturalWidth, height: naturalHeight })
          }
        />
      </button>
      <Dialog title={place} isOpen={isOpen} onClose={() => setOpen(false)} width={1200}>
        <div className={styles.large}>
          <div className={styles.ground}>
            <img className={classNames(isTiny && styles.tiny)} src={address} alt={place} />
          </div>
          <p className={styles.largeFacts}>
            <span className={styles.facts}>
              {[...(size === null ? [] : [`${size.width} × ${size.height}`]), ...facts].join(" · ")}
            </span>
            {save}
            <Button size="small" onClick={() => setOpen(false)}>
              Close
            </Button>
          </p>
        </div>
      </Dialog>
    </>
  )
}

function TextView({
  project,
  media,
  isMarkdown,
  ...card
}: CardProps & { project: string; media: Media; isMarkdown: boolean }) {
  const { source } = media
  const file = fileOf(project, source)
  const start = useFileStart(file ?? { project, digest: "" }, textBytes, file !== null)
  const held = source.at === "text" ? source.text : source.at === "data" ? decodedStart(source.base64) : null
  const text = held ?? start.data?.text
  if (text === undefined)
    return <Card {...card} facts={start.isError ? [...card.facts, "could not be read"] : card.facts} />
  const size = source.at === "data" ? byteCount(source.base64) : (start.data?.size ?? text.length)
  const isCut = size > textBytes
  const facts = [...card.facts, ...(file === null ? [] : [formatBytes(size)]), ...(isCut ? ["its beginning"] : [])]
  const shown = text.slice(0, textBytes)
  return (
    <Card {...card} facts={facts}>
      <div className={styles.text} tabIndex={0} role="region" aria-label={card.place}>
        {isMarkdown ? <Markdown text={shown} /> : <LongText text={shown} />}
      </div>
    </Card>
  )
}

function decodedStart(base64: string): string | null {
  // Whole groups of four letters.
  const bytes = bytesOf(base64.slice(0, Math.ceil((textBytes * 4) / 3 / 4) * 4))
  return bytes === null ? null : new TextDecoder().decode(bytes)
}

function LinkView({ url, what, place }: { url: URL; what: string; place: string }) {
  return (
    <figure className={styles.card}>
      <figcaption className={styles.caption}>
        <Icon of={Link} size={16} />
        <span className={styles.words}>
          <span className={styles.name} title={url.href}>
            <OuterLink href={url.href}>
              {what === "" ? "file" : what} at {url.host}
            </OuterLink>
          </span>
          <span className={styles.facts}>{place === "link" ? "not loaded" : `${place} · not loaded`}</span>
        </span>
      </figcaption>
    </figure>
  )
}

function Save({ project, media, place }: MediaViewProps) {
  const { source, type, name } = media
  const label = `Download ${place}`
  const file = fileOf(project, source)
  if (file !== null) {
    return <DownloadButton href={fileAddress(file, { name })} size="small" kind="quiet" label={label} />
  }
  const save = () => {
    const bytes = source.at === "text" ? source.text : source.at === "data" ? bytesOf(source.base64) : null
    // Any bytes: the browser never opens it as a page.
    if (bytes !== null) saveFile(new Blob([bytes], { type: "application/octet-stream" }), savedName(name, type))
  }
  return <Button size="small" kind="quiet" icon={Download} aria-label={label} onClick={save} />
}

function savedName(name: string, type: string): string {
  if (name !== "") return name
  return type === "text/plain" ? "file.txt" : `file.${/\/(?:x-)?(\w+)/.exec(type)?.[1] ?? "bin"}`
}

/** null: it is shown by no address. */
function addressIn(project: string, { source, type, name }: Media): string | null {
  const shown = shownType(type)
  if (shown === null) return null
  if (source.at === "data") return `data:${shown};base64,${usualLetters(source.base64)}`
  const file = fileOf(project, source)
  return file === null ? null : fileAddress(file, { type: shown, name })
}

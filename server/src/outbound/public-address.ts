/**
 * Which addresses the server may connect to at a client's wish. Without this, a client could read
 * through us what only this machine's network can reach (SSRF): metadata services, databases, us.
 */
import { BlockList, isIP, isIPv4 } from "node:net"

const notPublicV4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const

/** Inside 2000::/3, which is all that is routed: Teredo and other special uses, documentation, 6to4. */
const notPublicV6 = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const

/** Addresses at which clouds hand out a machine's own credentials. No setting opens them. */
const metadataAddresses = [
  ["169.254.0.0", 16, "ipv4"],
  ["100.100.100.200", 32, "ipv4"],
  ["168.63.129.16", 32, "ipv4"],
  ["192.0.0.192", 32, "ipv4"],
  ["fd00:ec2::", 32, "ipv6"],
] as const

export class FetchPolicy {
  readonly #metadata = new BlockList()
  readonly #refusedV4 = new BlockList()
  readonly #globalV6 = new BlockList()
  readonly #refusedV6 = new BlockList()
  readonly #allowed = new BlockList()
  readonly #allowedHosts = new Set<string>()

  /**
   * `allow`: host names, addresses and ranges (`10.1.0.0/16`) that are fine although not public.
   * @throws {Error} with a sentence for the operator when an entry cannot be read.
   */
  constructor(allow: readonly string[]) {
    for (const [network, bits] of notPublicV4) this.#refusedV4.addSubnet(network, bits, "ipv4")
    for (const [network, bits] of notPublicV6) this.#refusedV6.addSubnet(network, bits, "ipv6")
    this.#globalV6.addSubnet("2000::", 3, "ipv6")
    for (const [network, bits, family] of metadataAddresses) this.#metadata.addSubnet(network, bits, family)
    for (const entry of allow) this.#allow(entry)
  }

  allowsHost(host: string): boolean {
    return this.#allowedHosts.has(host.toLowerCase())
  }

  /** Whether a connection to the host, for whose name this address stands, may be made. */
  allows(host: string, address: string): boolean {
    if (!this.allowsHost(host)) return this.allowsAddress(address)
    const plain = withoutMapping(address)
    return !this.#metadata.check(plain, familyOf(plain))
  }

  allowsAddress(address: string): boolean {
    const plain = withoutMapping(address)
    const family = familyOf(plain)
    if (this.#metadata.check(plain, family)) return false
    if (this.#allowed.check(plain, family)) return true
    if (family === "ipv4") return !this.#refusedV4.check(plain, "ipv4")
    return this.#globalV6.check(plain, "ipv6") && !this.#refusedV6.check(plain, "ipv6")
  }

  #allow(entry: string): void {
    const [network, bits, ...rest] = entry.split("/") as [string, string?, ...string[]]
    const family = isIP(network) === 4 ? "ipv4" : "ipv6"
    const width = family === "ipv4" ? 32 : 128
    if (isIP(network) === 0) {
      if (bits !== undefined || !/^[A-Za-z0-9.-]+$/.test(network)) throw unreadable(entry)
      this.#allowedHosts.add(network.toLowerCase())
      return
    }
    const prefix = bits === undefined ? width : Number(bits)
    if (rest.length > 0 || !Number.isInteger(prefix) || prefix < 0 || prefix > width) throw unreadable(entry)
    this.#allowed.addSubnet(network, prefix, family)
  }
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv4(address) ? "ipv4" : "ipv6"
}

/** `::ffff:127.0.0.1` is 127.0.0.1. The URL parser writes it as `::ffff:7f00:1`. */
function withoutMapping(address: string): string {
  const dotted = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (dotted?.[1] !== undefined) return dotted[1]
  const hex = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address)
  if (hex?.[1] === undefined || hex[2] === undefined) return address
  const high = Number.parseInt(hex[1], 16)
  const low = Number.parseInt(hex[2], 16)
  return [high >> 8, high & 255, low >> 8, low & 255].join(".")
}

function unreadable(entry: string): Error {
  return new Error(
    `HEDDLE_FETCH_ALLOW: "${entry}" is neither a host name nor an address nor a range such as 10.1.0.0/16`,
  )
}

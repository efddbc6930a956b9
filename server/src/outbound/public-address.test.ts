import { describe, expect, test } from "vitest"
import { FetchPolicy } from "./public-address.ts"

describe("security 5.2: FetchPolicy refuses an address that is not public", () => {
  test.each([
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fe80::1",
    "fc00::1",
    "fd12::1",
    "ff02::1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "2001:db8::1",
    "::ffff:127.0.0.1",
    "::ffff:7f00:1",
    "::ffff:a9fe:a9fe",
  ])("%s", (address) => expect(new FetchPolicy([]).allowsAddress(address)).toBe(false))
})

test.each(["8.8.8.8", "172.15.0.1", "172.32.0.1", "192.167.0.1", "2606:4700::1111", "2a00:1450::1", "::ffff:8.8.8.8"])(
  "FetchPolicy allows the public address %s",
  (address) => expect(new FetchPolicy([]).allowsAddress(address)).toBe(true),
)

test("HEDDLE_FETCH_ALLOW opens addresses, ranges and hosts, and nothing else", () => {
  const policy = new FetchPolicy(["10.1.0.0/16", "127.0.0.1", "fd00::/8", "Data.Internal"])
  expect(policy.allowsAddress("10.1.255.1")).toBe(true)
  expect(policy.allowsAddress("10.2.0.1")).toBe(false)
  expect(policy.allowsAddress("127.0.0.1")).toBe(true)
  expect(policy.allowsAddress("127.0.0.2")).toBe(false)
  expect(policy.allowsAddress("fd12::1")).toBe(true)
  expect(policy.allowsHost("data.internal")).toBe(true)
  expect(policy.allowsHost("other.internal")).toBe(false)
})

test("security 5.2: no setting opens the metadata services of clouds", () => {
  const policy = new FetchPolicy(["169.254.0.0/16", "100.64.0.0/10", "fd00::/8", "0.0.0.0/0", "metadata.internal"])
  for (const address of [
    "169.254.169.254",
    "::ffff:169.254.169.254",
    "100.100.100.200",
    "fd00:ec2::254",
    "168.63.129.16",
  ]) {
    expect([address, policy.allowsAddress(address)]).toEqual([address, false])
    expect([address, policy.allows("metadata.internal", address)]).toEqual([address, false])
  }
  expect(policy.allows("metadata.internal", "192.168.1.1")).toBe(true)
})

test.each(["10.0.0.0/33", "10.0.0.0/8/8", "a host", "host/8", "10.0.0.0/x"])(
  "an entry %j in HEDDLE_FETCH_ALLOW is refused with an error that names it",
  (entry) => {
    expect(() => new FetchPolicy([entry])).toThrow(`HEDDLE_FETCH_ALLOW: "${entry}"`)
  },
)

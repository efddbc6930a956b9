/** A browser's own words for itself, shortened: "Firefox 145 on Linux". */

const browsers: readonly [RegExp, string][] = [
  [/Edg\/(\d+)/, "Edge"],
  [/OPR\/(\d+)/, "Opera"],
  [/Firefox\/(\d+)/, "Firefox"],
  [/(?:HeadlessChrome|Chrome)\/(\d+)/, "Chrome"],
  [/Version\/(\d+).*Safari/, "Safari"],
]
const systems: readonly [RegExp, string][] = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/Linux/, "Linux"],
]

export function browserName(userAgent: string): string {
  const browser = browsers.flatMap(([pattern, name]) => {
    const version = pattern.exec(userAgent)?.[1]
    return version === undefined ? [] : [`${name} ${version}`]
  })[0]
  const system = systems.find(([pattern]) => pattern.test(userAgent))?.[1]
  if (browser === undefined) return userAgent === "" ? "Unknown browser" : userAgent
  return system === undefined ? browser : `${browser} on ${system}`
}

import Bowser from 'bowser'

/** Longer ones are of nobody's browser. */
const MAX_USER_AGENT = 512
const UNKNOWN = 'An application'

/** As programs begin theirs: `curl/8.5.0`. */
const PRODUCT = /^([A-Za-z][\w.-]{0,39})\//

/** "Safari on iPhone", "Firefox on Windows"; of a program its own name. */
export function deviceName(userAgent: string): string {
  const text = userAgent.slice(0, MAX_USER_AGENT)
  if (text === '') return UNKNOWN
  const { browser, os, platform } = Bowser.parse(text)
  const device = platform.model ?? os.name ?? ''
  const name = browser.name || PRODUCT.exec(text)?.[1] || UNKNOWN
  return device === '' ? name : `${name} on ${device}`
}

const UNITS = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

/** "2 hours ago", "yesterday", "just now". */
export function timeAgo(then: Date, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - then.getTime()) / 1000))
  const unit = UNITS.find(([, length]) => seconds >= length)
  if (!unit) return 'just now'
  const [name, length] = unit
  return RELATIVE.format(-Math.floor(seconds / length), name)
}

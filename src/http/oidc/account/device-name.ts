import Bowser from 'bowser'

import { type LocalizedText, t } from '#languages/message.ts'

/** No browser sends longer ones. */
const MAX_USER_AGENT = 512
const UNKNOWN = t('device.unknown')

/** As programs begin theirs: `curl/8.5.0`. */
const PRODUCT = /^([A-Za-z][\w.-]{0,39})\//

/** "Safari on iPhone", "Firefox on Windows"; of a program its own name. */
export function deviceName(userAgent: string): LocalizedText {
  const text = userAgent.slice(0, MAX_USER_AGENT)
  if (text === '') return UNKNOWN
  const { browser, os, platform } = Bowser.parse(text)
  const device = platform.model ?? os.name ?? ''
  const name = browser.name || PRODUCT.exec(text)?.[1] || UNKNOWN
  return device === '' ? name : t('device.named', { browser: name, system: device })
}

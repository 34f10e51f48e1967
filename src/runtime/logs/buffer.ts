import { toStorable } from '#base/storable-text.ts'

import type { NewLogLine } from './model.ts'

const MAX_LINES_PER_SITE = 2000
const MAX_CHARS_PER_SITE = 2 * 1024 * 1024
const MAX_CHARS = 64 * 1024 * 1024
const MAX_MESSAGE = 16 * 1024
/** What a line takes beside its message. */
const LINE_OVERHEAD = 200

interface SiteBuffer {
  lines: NewLogLine[]
  chars: number
  /** Lines that found no place. */
  dropped: number
}

/** Lines on their way to the database, bounded per site and in all. A line that finds no place is counted, not kept. */
export class LogBuffer {
  readonly #sites = new Map<string, SiteBuffer>()
  #chars = 0

  /** True when the site's lines should be written without waiting for more. */
  add(siteId: string, line: NewLogLine): boolean {
    const buffer = this.#of(siteId)
    const message = toStorable(line.message.slice(0, MAX_MESSAGE))
    const chars = message.length + LINE_OVERHEAD
    if (!this.#fits(buffer, chars)) {
      buffer.dropped += 1
      return false
    }
    buffer.lines.push({ ...line, message })
    buffer.chars += chars
    this.#chars += chars
    return buffer.lines.length === MAX_LINES_PER_SITE / 4
  }

  sites(): string[] {
    return [...this.#sites.keys()]
  }

  /** Takes what waits for a site; a last line says how many others found no place. */
  take(siteId: string, now: Date): NewLogLine[] {
    const buffer = this.#sites.get(siteId)
    if (!buffer) return []
    this.#sites.delete(siteId)
    this.#chars -= buffer.chars
    return buffer.dropped === 0 ? buffer.lines : [...buffer.lines, droppedLine(buffer.dropped, now)]
  }

  #fits(buffer: SiteBuffer, chars: number): boolean {
    return (
      buffer.lines.length < MAX_LINES_PER_SITE &&
      buffer.chars + chars <= MAX_CHARS_PER_SITE &&
      this.#chars + chars <= MAX_CHARS
    )
  }

  #of(siteId: string): SiteBuffer {
    const known = this.#sites.get(siteId)
    if (known) return known
    const buffer = { lines: [], chars: 0, dropped: 0 }
    this.#sites.set(siteId, buffer)
    return buffer
  }
}

const droppedLine = (count: number, at: Date): NewLogLine => ({
  at,
  level: 'warn',
  kind: 'platform',
  operation: null,
  requestId: null,
  message: `${count} lines were dropped: the site printed faster than lines are stored`,
  fields: { dropped: count },
})

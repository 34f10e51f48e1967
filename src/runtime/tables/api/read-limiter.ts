import { AppError } from '#base/app-error.ts'

/** The reads of all sites at once; the other connections are for requests for one item. */
const MAX_READS = 8
const MAX_READS_OF_SITE = 4
/** Sites that read large pages at once: each page takes the process for itself while it is filtered. */
const MAX_SITES_WITH_LARGE_READS = 2
const MAX_WAITING = 200

interface SiteLine {
  open: number
  /** Whether what was read last was large: then the site reads one after the other. */
  large: boolean
  readonly waiting: (() => void)[]
}

/**
 * Lets a few reads of several items run at once in this process. Sites take turns: who asks for many large pages waits
 * for its own, and its neighbours do not wait for them.
 */
export class ReadLimiter {
  readonly #sites = new Map<string, SiteLine>()
  #open = 0

  /** Fails with `TooManyRequests` when 200 reads of the site wait already. */
  async run<Result>(
    siteId: string,
    read: () => Promise<Result>,
    isLarge: (result: Result) => boolean,
  ): Promise<Result> {
    const line = this.#lineOf(siteId)
    if (line.waiting.length >= MAX_WAITING) throw tooMany()
    await new Promise<void>((resolve) => {
      line.waiting.push(resolve)
      this.#admit()
    })
    try {
      const result = await read()
      line.large = isLarge(result)
      return result
    } finally {
      line.open -= 1
      this.#open -= 1
      this.#admit()
    }
  }

  /** In turn: a site that was let in goes to the end, one with nothing left goes. */
  #admit(): void {
    let large = [...this.#sites.values()].filter((line) => line.large && line.open > 0).length
    for (const [siteId, line] of this.#sites) {
      if (line.open === 0 && line.waiting.length === 0) this.#sites.delete(siteId)
      if (this.#open >= MAX_READS || !mayEnter(line, large)) continue
      const enter = line.waiting.shift()
      if (!enter) continue
      line.open += 1
      this.#open += 1
      if (line.large) large += 1
      this.#sites.delete(siteId)
      this.#sites.set(siteId, line)
      enter()
    }
  }

  #lineOf(siteId: string): SiteLine {
    const line = this.#sites.get(siteId) ?? { open: 0, large: false, waiting: [] }
    this.#sites.set(siteId, line)
    return line
  }
}

const mayEnter = ({ open, large }: SiteLine, openLarge: number): boolean =>
  large ? open === 0 && openLarge < MAX_SITES_WITH_LARGE_READS : open < MAX_READS_OF_SITE

const tooMany = (): AppError =>
  new AppError(
    'TooManyRequests',
    `${MAX_WAITING} queries, scans and batches of this site wait already: send fewer at once`,
    { retryAfterSeconds: 1, fields: { limit: MAX_WAITING } },
  )

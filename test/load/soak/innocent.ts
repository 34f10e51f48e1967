import { setTimeout as delay } from 'node:timers/promises'

import type { Installation } from './installation.ts'
import type { SoakSite } from './site.ts'
import { isTimeout, type Tally } from './tally.ts'

const EVERY_MS = 100
const VERSION_EVERY_MS = 3000
const PUBLISHED_WITHIN_MS = 30_000
const SLOW_MS = 500

const versionCode = (version: number): string => `export default () => ${version}`

/** A site that does no harm: its calls, and the publishing of its code, go on all the time. */
export class Innocent {
  readonly latenciesMs: number[] = []
  readonly #site: SoakSite
  readonly #installation: Installation
  readonly #tally: Tally

  private constructor(of: { site: SoakSite; installation: Installation; tally: Tally }) {
    this.#site = of.site
    this.#installation = of.installation
    this.#tally = of.tally
  }

  static async open(of: {
    site: SoakSite
    installation: Installation
    tally: Tally
  }): Promise<Innocent> {
    await of.site.publish('add', 'export default ({ payload }) => payload + 1')
    await of.site.publish('version', versionCode(0))
    return new Innocent(of)
  }

  /** Calls at a steady rate, whether earlier ones have been answered or not. */
  async callOn(signal: AbortSignal): Promise<void> {
    const open = new Set<Promise<void>>()
    for (let serial = 0; !signal.aborted; serial += 1) {
      const call: Promise<void> = this.#call(serial).finally(() => open.delete(call))
      open.add(call)
      await delay(EVERY_MS)
    }
    await Promise.all(open)
  }

  async publishOn(signal: AbortSignal): Promise<void> {
    for (let version = 1; !signal.aborted; version += 1) {
      await this.#publish(version)
      await delay(VERSION_EVERY_MS)
    }
  }

  get slow(): number {
    return this.latenciesMs.filter((ms) => ms > SLOW_MS).length
  }

  async #call(serial: number): Promise<void> {
    const startedMs = performance.now()
    try {
      const answer = await this.#site.call('add', serial)
      if (answer.status === 200 && answer.json.data === serial + 1) {
        this.#tally.count('innocent answered')
        if (!this.#installation.excuses) this.latenciesMs.push(performance.now() - startedMs)
      } else this.#failed(`an innocent call was answered ${answer.status} ${answer.text}`)
    } catch (error) {
      if (isTimeout(error)) this.#tally.violation('an innocent call was never answered')
      else this.#failed(`an innocent call failed: ${String(error)}`)
    }
  }

  async #publish(version: number): Promise<void> {
    const startedMs = performance.now()
    try {
      const changed = await this.#site.change('version', versionCode(version))
      if (changed.status !== 200) throw new Error(`${changed.status} ${changed.text}`)
      while (performance.now() - startedMs < PUBLISHED_WITHIN_MS) {
        if ((await this.#site.call('version')).json?.data === version) {
          this.#tally.count('innocent published')
          return
        }
        await delay(50)
      }
      throw new Error('its code is not served in time')
    } catch (error) {
      this.#failed(`an innocent site could not publish: ${String(error)}`)
    }
  }

  #failed(what: string): void {
    if (this.#installation.excuses) this.#tally.count('innocent failed within 10 s of a kill')
    else this.#tally.violation(what)
  }
}

import { setTimeout as delay } from 'node:timers/promises'

import { ATTACK_SCRIPTS } from '#test/attack-scripts.ts'
import type { Chance } from '#test/chance.ts'

import type { Installation } from './installation.ts'
import type { SoakSite } from './site.ts'
import { isTimeout, type Tally } from './tally.ts'

const NESTED = 3000
/** Sources that are hard to read. */
const HARD_SOURCES: readonly string[] = [
  `export default () => ${'['.repeat(NESTED)}${']'.repeat(NESTED)}`,
  ';'.repeat(2 ** 21),
  `export default () => [${'1,'.repeat(2 ** 20)}]`,
]
const CALLS_AT_ONCE = 4
const KILL_EVERY_MS = { least: 8000, more: 20_000 }
const RESTART_EVERY_MS = { least: 240_000, more: 120_000 }

interface UnrestDeps {
  readonly installation: Installation
  readonly attackers: readonly SoakSite[]
  /** More than the hosts keep warm. */
  readonly crowd: readonly SoakSite[]
  readonly chance: Chance
  readonly tally: Tally
}

/** All that a soak does to a service: attacks, deployments, evictions and kills, in an order drawn by chance. */
export class Unrest {
  readonly #deps: UnrestDeps

  constructor(deps: UnrestDeps) {
    this.#deps = deps
  }

  async run(signal: AbortSignal): Promise<void> {
    const { attackers } = this.#deps
    await Promise.all([
      ...attackers.map((site) => this.#attackOn(site, signal)),
      this.#crowdOn(signal),
      this.#killOn(signal),
    ])
  }

  async #attackOn(site: SoakSite, signal: AbortSignal): Promise<void> {
    const { chance, tally } = this.#deps
    while (!signal.aborted) {
      const isSource = chance.next() < 0.15
      const code = isSource ? chance.oneOf(HARD_SOURCES) : chance.oneOf(ATTACK_SCRIPTS).code
      const calls = 1 + chance.below(CALLS_AT_ONCE)
      const name = isSource ? 'hard source' : 'attack'
      const changed = await this.#try(name, () => site.change('attack', code))
      if (changed === 200) tally.count(`${name} deployed`)
      await Promise.all(
        Array.from({ length: calls }, () => this.#try('attack', () => site.call('attack'))),
      )
      await delay(100)
    }
  }

  async #crowdOn(signal: AbortSignal): Promise<void> {
    const { chance, crowd } = this.#deps
    while (!signal.aborted) {
      const site = chance.oneOf(crowd)
      await this.#try('crowd', () => site.call(`op${chance.below(4)}`, 1))
      await delay(50)
    }
  }

  async #killOn(signal: AbortSignal): Promise<void> {
    const { chance, installation, tally } = this.#deps
    const wait = ({ least, more }: { least: number; more: number }) => least + chance.next() * more
    let restartMs = performance.now() + wait(RESTART_EVERY_MS)
    while (!signal.aborted) {
      await delay(wait(KILL_EVERY_MS), undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      if (performance.now() > restartMs) {
        await installation.killService()
        tally.count('service killed')
        restartMs = performance.now() + wait(RESTART_EVERY_MS)
        continue
      }
      const program = chance.next() < 0.3 ? 'preparer' : 'host'
      if (installation.killChild(program, (all) => chance.oneOf(all))) {
        tally.count(`${program} killed`)
      }
    }
  }

  /** Any answer will do, but there must be one, unless the service is killed. */
  async #try(what: string, ask: () => Promise<{ status: number }>): Promise<number | undefined> {
    const { tally } = this.#deps
    try {
      const { status } = await ask()
      tally.count(`${what} answered ${status}`)
      return status
    } catch (error) {
      if (isTimeout(error)) tally.violation(`${what} was never answered`)
      else tally.count(`${what} cut off by a kill`)
      return undefined
    }
  }
}

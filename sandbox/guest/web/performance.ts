import { clockNow, clockOrigin } from './clock.ts'
import { EventTarget } from './event-target.ts'
import { defineInterface } from './interface.ts'

const CONSTRUCT = Symbol('construct')

/** https://w3c.github.io/hr-time/#sec-performance, on the coarse clock of the host. */
class Performance extends EventTarget {
  readonly #brand = true

  constructor(key?: symbol) {
    if (key !== CONSTRUCT) throw new TypeError('Illegal constructor')
    super()
  }

  get timeOrigin(): number {
    void this.#brand
    return clockOrigin()
  }

  now(): number {
    void this.#brand
    return clockNow()
  }

  toJSON(): { timeOrigin: number } {
    return { timeOrigin: this.timeOrigin }
  }
}

defineInterface('Performance', Performance)

export const performance = new Performance(CONSTRUCT)

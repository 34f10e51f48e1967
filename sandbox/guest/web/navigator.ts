import { defineInterface } from './interface.ts'

const CONSTRUCT = Symbol('construct')

/** One product token, as ECMA-429 advises. */
class Navigator {
  readonly #userAgent = 'Croft'

  constructor(key?: symbol) {
    if (key !== CONSTRUCT) throw new TypeError('Illegal constructor')
  }

  get userAgent(): string {
    return this.#userAgent
  }
}

defineInterface('Navigator', Navigator)

export const navigator = new Navigator(CONSTRUCT)

import { defineAttributes, defineInterface } from './interface.ts'
import { create } from './primordials.ts'

class Navigator {
  constructor() {
    throw new TypeError('Illegal constructor')
  }
}

export const navigator = create(Navigator.prototype) as Navigator

/** One product token, as ECMA-429 advises. */
defineAttributes(Navigator, (value) => (value === navigator ? 'Croft' : undefined), {
  userAgent: (token) => token,
})
defineInterface('Navigator', Navigator)

import { defineAttributes, defineInterface } from './interface.ts'
import { create, freeze } from './primordials.ts'

class Navigator {
  constructor() {
    throw new TypeError('Illegal constructor')
  }
}

export const navigator = create(Navigator.prototype) as Navigator

const LANGUAGES = freeze(['en-US'])

/** The same for every site and machine, so that it tells nothing of them; the agent is one product token, as ECMA-429 advises. */
defineAttributes(Navigator, (value) => (value === navigator ? true : undefined), {
  hardwareConcurrency: () => 1,
  userAgent: () => 'Croft',
  language: () => LANGUAGES[0],
  languages: () => LANGUAGES,
  platform: () => 'Linux x86_64',
})
defineInterface('Navigator', Navigator)

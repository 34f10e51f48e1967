import { defineAttributes, defineInterface, takeInternals } from './interface.ts'
import { part } from './parts.ts'
import { defineProperty } from './primordials.ts'
import type { ParsedPattern } from './urlpattern.part.ts'
import { isWebIdlObject } from './webidl.ts'

/** https://urlpattern.spec.whatwg.org/#urlpattern-class: the shell; what it does is a part of the platform. */
class URLPattern {
  readonly #pattern: ParsedPattern

  constructor(input?: unknown, baseOrOptions?: unknown, options?: unknown) {
    this.#pattern = part('urlpattern').parsePattern(input, baseOrOptions, options)
  }

  test(input?: unknown, baseUrl?: unknown): boolean {
    return this.#pattern.test(input, baseUrl)
  }

  exec(input?: unknown, baseUrl?: unknown): object | null {
    return this.#pattern.exec(input, baseUrl)
  }

  static readonly patternOf = (value: unknown): ParsedPattern | undefined => {
    return isWebIdlObject(value) && #pattern in value ? value.#pattern : undefined
  }
}

defineAttributes(URLPattern, takeInternals(URLPattern).patternOf, {
  protocol: ({ parts }) => parts.protocol,
  username: ({ parts }) => parts.username,
  password: ({ parts }) => parts.password,
  hostname: ({ parts }) => parts.hostname,
  port: ({ parts }) => parts.port,
  pathname: ({ parts }) => parts.pathname,
  search: ({ parts }) => parts.search,
  hash: ({ parts }) => parts.hash,
  hasRegExpGroups: ({ parts }) => parts.hasRegExpGroups,
})
defineInterface('URLPattern', URLPattern)
for (const name of ['test', 'exec'])
  defineProperty(Reflect.get(URLPattern.prototype, name) as object, 'length', { value: 0 })

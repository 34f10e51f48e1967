import { defineAttributes, defineInterface, takeInternals } from './interface.ts'
import { part } from './parts.ts'
import { defineProperty } from './primordials.ts'
import type { UrlPattern } from './urlpattern.part.ts'
import { isWebIdlObject } from './webidl.ts'

/** https://urlpattern.spec.whatwg.org/#urlpattern-class: the shell; what it does is a part of the platform. */
class URLPattern {
  readonly #pattern: UrlPattern

  constructor(...args: readonly unknown[]) {
    this.#pattern = part('urlpattern').parsePattern(...args)
  }

  test(input?: unknown, baseUrl?: unknown): boolean {
    return this.#pattern.test(input, baseUrl)
  }

  exec(input?: unknown, baseUrl?: unknown): object | null {
    return this.#pattern.exec(input, baseUrl)
  }

  static readonly patternOf = (value: unknown): UrlPattern | undefined => {
    return isWebIdlObject(value) && #pattern in value ? value.#pattern : undefined
  }
}

defineAttributes(URLPattern, takeInternals(URLPattern).patternOf, {
  protocol: (pattern) => pattern.protocol,
  username: (pattern) => pattern.username,
  password: (pattern) => pattern.password,
  hostname: (pattern) => pattern.hostname,
  port: (pattern) => pattern.port,
  pathname: (pattern) => pattern.pathname,
  search: (pattern) => pattern.search,
  hash: (pattern) => pattern.hash,
  hasRegExpGroups: (pattern) => pattern.hasRegExpGroups,
})
defineInterface('URLPattern', URLPattern)
for (const name of ['test', 'exec'])
  defineProperty(Reflect.get(URLPattern.prototype, name) as object, 'length', { value: 0 })

import type { Answer } from '#test/http-client.ts'

import type { ServerFacts } from './authorization-server.ts'

const ERROR_ON_PAGE = /<span>(?:Error code: |\s*)([a-z_]+)(?:: |<)/

/**
 * What a client or a browser makes of an answer, in a few words: status, where it leads, `error`, and whether `state` and
 * `iss` come back. Wording, pages and the order of parameters are each server's own.
 */
export function outcomeOf(facts: ServerFacts, answer: Answer): string {
  const { location } = answer.headers
  const what = location === undefined ? bodyOf(answer) : leadOf(facts, location)
  return [answer.status, ...what].filter((word) => word !== undefined).join(' ')
}

type Words = readonly (string | undefined)[]

function leadOf(facts: ServerFacts, location: string): Words {
  const url = new URL(location, facts.issuer)
  if (facts.signInPath.test(url.pathname)) return ['to sign-in']
  const target = [facts.redirectUri, facts.logoutUri].find((each) => isAt(location, each))
  if (target === undefined) return ['to', url.pathname]
  const said = url.hash === '' ? url.searchParams : new URLSearchParams(url.hash.slice(1))
  return [
    target === facts.redirectUri ? 'to client' : 'to logout address',
    url.hash === '' ? undefined : 'in the fragment',
    said.has('code') ? 'with a code' : undefined,
    said.get('error') ?? undefined,
    shown('state', said.get('state')),
    said.has('iss') ? (said.get('iss') === facts.issuer ? 'iss' : 'another iss') : undefined,
  ]
}

const isAt = (location: string, address: string): boolean =>
  location === address || location.startsWith(`${address}?`) || location.startsWith(`${address}#`)

const shown = (name: string, value: string | null): string | undefined =>
  value === null ? undefined : `${name}=${value.length > 20 ? `(${value.length})` : visible(value)}`

/** Without control characters. */
const visible = (value: string): string => value.replaceAll(/\p{Cc}/gu, encodeURIComponent)

function bodyOf(answer: Answer): Words {
  const type = answer.headers['content-type'] ?? ''
  // An object without members is for clients that read every answer as JSON: it says as little.
  if (['', '{}'].includes(answer.text)) return ['empty', challengeOf(answer)]
  if (type.startsWith('text/html')) {
    const asks = answer.text.includes('<form') ? 'that asks' : undefined
    return ['page', asks, ERROR_ON_PAGE.exec(answer.text)?.[1]]
  }
  if (!type.startsWith('application/json')) return [type]
  const { error } = answer.json
  const code: unknown = typeof error === 'object' ? error.code : error
  return ['json', typeof code === 'string' ? code : 'good', challengeOf(answer)]
}

function challengeOf({ headers }: Answer): string | undefined {
  const challenge = headers['www-authenticate']
  if (challenge === undefined) return undefined
  const said = [/^\w+/.exec(challenge)?.[0], /\berror="(\w+)"/.exec(challenge)?.[1]]
  return `(${said.filter((word) => word !== undefined).join(' ')})`
}

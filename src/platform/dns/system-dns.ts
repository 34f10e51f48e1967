import { Resolver } from 'node:dns/promises'

import { LRUCache } from 'lru-cache'

import { hasCode } from '#base/error-code.ts'

import { type DnsAnswer, type DnsResolver, NO_RECORD } from './dns-resolver.ts'

const TIMEOUT_MS = 2000
const TRIES = 2
const MAX_ANSWERS = 10_000
/** Shorter than most records live: a change of theirs is seen within a minute. */
const ANSWER_TTL_MS = 60_000
/** Long enough that messages which come together do not each wait for a server that is away. */
const FAILURE_TTL_MS = 5000

/** The name servers of the system, asked with a deadline; what they say is remembered for a minute. */
export function systemDns(): DnsResolver {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES })
  const answers = new LRUCache<string, Promise<DnsAnswer>>({ max: MAX_ANSWERS, ttl: ANSWER_TTL_MS })
  return (name, type) => {
    const key = `${type} ${name.toLowerCase()}`
    const known = answers.get(key)
    if (known) return known
    const asked = ask(resolver, name, type)
    answers.set(key, asked)
    asked.catch((error: unknown) => {
      if (!hasCode(error, ...NO_RECORD)) answers.set(key, asked, { ttl: FAILURE_TTL_MS })
    })
    return asked
  }
}

function ask(resolver: Resolver, name: string, type: string): Promise<DnsAnswer> {
  switch (type) {
    case 'MX':
      return resolver.resolveMx(name)
    case 'TXT':
      return resolver.resolveTxt(name)
    case 'A':
    case 'AAAA':
    case 'CNAME':
    case 'PTR':
      return resolver.resolve(name, type)
    default:
      return Promise.reject(new Error(`DNS is not asked for "${type}" here`))
  }
}

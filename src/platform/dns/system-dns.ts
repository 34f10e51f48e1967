import { LRUCache } from 'lru-cache'

import { codeOf } from '#base/error-code.ts'
import { SingleFlight } from '#base/single-flight.ts'
import type { DnsServerAddress } from '#config/config.ts'

import { DnsClient } from './dns-client.ts'
import { RECORD_TYPES, type RecordType } from './dns-message.ts'
import { canonicalName } from './dns-name.ts'
import { type DnsAnswer, DnsError, type DnsResolver } from './dns-resolver.ts'
import { NameServers } from './name-servers.ts'

const MAX_OUTCOMES = 10_000
const MAX_CHARACTERS = 16_000_000
/** An entry without its answer. */
const ENTRY_CHARACTERS = 300
/** Many messages of one sender come together; the servers that are asked keep records longer. */
const MAX_TTL_SECONDS = 300
/** An operator adds a record that was missing, and looks for it. */
const MAX_NEGATIVE_TTL_SECONDS = 60
/** Long enough that messages which come together do not each wait for a server that is away (RFC 2308 §7). */
const FAILURE_TTL_SECONDS = 5

/**
 * DNS as the servers know it that are configured, or those of the system. Equal questions at one time are one query; what is
 * found, or found missing, is kept as long as its TTL says, within bounds.
 */
export function systemDns(servers?: readonly DnsServerAddress[]): DnsResolver {
  return keptDns(new DnsClient(new NameServers(servers)))
}

type KnownOutcome = { readonly answer: DnsAnswer } | { readonly code: string }

function keptDns(client: DnsClient): DnsResolver {
  const flights = new SingleFlight<string, KnownOutcome>()
  const known = new LRUCache<string, KnownOutcome>({
    max: MAX_OUTCOMES,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (outcome, key) => ENTRY_CHARACTERS + key.length + charactersOf(outcome),
  })
  const load = async (name: string, type: RecordType, key: string): Promise<KnownOutcome> => {
    const outcome = await client.query({ name, type }).catch((error: unknown) => {
      const code = codeOf(error)
      if (code === undefined) throw error
      return { code, ttlSeconds: FAILURE_TTL_SECONDS }
    })
    const { ttlSeconds, ...kept } = outcome
    const ttl = Math.min(ttlSeconds, 'code' in kept ? MAX_NEGATIVE_TTL_SECONDS : MAX_TTL_SECONDS)
    if (ttl > 0) known.set(key, kept, { ttl: ttl * 1000 })
    return kept
  }
  return async (text, type) => {
    if (!isRecordType(type)) throw new Error(`DNS is not asked for "${type}" here`)
    const name = canonicalName(text)
    if (name === undefined) throw new DnsError('ENOTFOUND', { name: text, type })
    const key = `${type} ${name}`
    const outcome = known.get(key) ?? (await flights.run(key, () => load(name, type, key)))
    if ('code' in outcome) throw new DnsError(outcome.code, { name, type })
    return structuredClone(outcome.answer)
  }
}

const isRecordType = (type: string): type is RecordType => Object.hasOwn(RECORD_TYPES, type)

function charactersOf(outcome: KnownOutcome): number {
  return 'code' in outcome ? 0 : JSON.stringify(outcome.answer).length
}

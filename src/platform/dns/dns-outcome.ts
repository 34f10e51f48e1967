import {
  type DnsQuestion,
  type DnsResponse,
  RCODES,
  RECORD_TYPES,
  dataOf,
  negativeTtlSeconds,
  aliasTarget,
} from './dns-message.ts'
import type { DnsAnswer } from './dns-resolver.ts'

/** As many as resolvers follow. */
export const MAX_ALIASES = 8

/** What a name has of one type, or that it has nothing. */
export type DnsOutcome = ({ readonly answer: DnsAnswer } | { readonly code: string }) & {
  /** How long it may be kept: 0 where the server does not say. */
  readonly ttlSeconds: number
}

/** The name that has to be asked for next. */
export interface DnsAlias {
  readonly alias: string
  readonly ttlSeconds: number
}

/**
 * Follows the aliases of a response from the name that was asked for. Records of other names are ignored. Throws a RangeError
 * for a response that is broken.
 */
export function outcomeOf(response: DnsResponse, question: DnsQuestion): DnsOutcome | DnsAlias {
  const type = RECORD_TYPES[question.type]
  let [name, ttlSeconds] = [question.name, Infinity]
  for (let aliases = 0; aliases <= MAX_ALIASES; aliases += 1) {
    const own = response.answers.filter((record) => record.name === name)
    const found = own.filter((record) => record.type === type)
    const ttls = [ttlSeconds, ...found.map((record) => record.ttlSeconds)]
    if (found.length > 0) {
      return { answer: dataOf(response, question.type, found), ttlSeconds: Math.min(...ttls) }
    }
    const alias = own.find((record) => record.type === RECORD_TYPES.CNAME)
    if (!alias) return withoutRecords(response, question, { alias: name, ttlSeconds })
    name = aliasTarget(response, alias)
    ttlSeconds = Math.min(ttlSeconds, alias.ttlSeconds)
  }
  throw new RangeError('Aliases without an end')
}

/** Without a word on its absence the record of an alias is another server's to know. */
function withoutRecords(
  response: DnsResponse,
  question: DnsQuestion,
  last: DnsAlias,
): DnsOutcome | DnsAlias {
  const absentSeconds = negativeTtlSeconds(response)
  const isMissing = response.rcode === RCODES.nxDomain
  const isAbsent = isMissing || absentSeconds !== undefined
  if (last.alias !== question.name && !isAbsent) return last
  return {
    code: isMissing ? 'ENOTFOUND' : 'ENODATA',
    ttlSeconds: Math.min(last.ttlSeconds, absentSeconds ?? 0),
  }
}

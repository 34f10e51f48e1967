import type { MxRecord } from 'node:dns'

import { hasCode } from '#base/error-code.ts'
import { type DnsAnswer, type DnsResolver, NO_RECORD } from '#platform/dns/dns-resolver.ts'

const DEADLINE_MS = 8000

export type LookedUpType = 'MX' | 'TXT' | 'CNAME' | 'A' | 'AAAA'

/**
 * The records at that name, each as one text: an MX as `10 mx.example.com`, a TXT with its strings joined. Undefined when
 * DNS has not answered in 8 s, or not said whether there are any.
 */
export async function lookUp(
  resolver: DnsResolver,
  name: string,
  type: LookedUpType,
): Promise<readonly string[] | undefined> {
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(() => late.resolve(undefined), DEADLINE_MS)
  try {
    const answer = await Promise.race([resolver(name, type), late.promise])
    return answer && textsOf(answer)
  } catch (error) {
    return hasCode(error, ...NO_RECORD) ? [] : undefined
  } finally {
    clearTimeout(timer)
  }
}

const textsOf = (answer: DnsAnswer): string[] => answer.map(textOf)

function textOf(record: string | string[] | MxRecord): string {
  if (typeof record === 'string') return record
  if (Array.isArray(record)) return record.join('')
  return `${record.priority} ${hostName(record.exchange)}`
}

/** Without the dot of the root, in lower case. */
const hostName = (name: string): string => name.toLowerCase().replace(/\.$/, '')

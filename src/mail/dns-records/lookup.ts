import type { MxRecord } from 'node:dns'

import { hasCode } from '#base/error-code.ts'
import { withTimeout } from '#base/with-timeout.ts'
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
  try {
    const answer = await withTimeout(resolver(name, type), DEADLINE_MS, () => undefined)
    return answer && textsOf(answer)
  } catch (error) {
    return hasCode(error, ...NO_RECORD) ? [] : undefined
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

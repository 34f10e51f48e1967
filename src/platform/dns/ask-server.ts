import { randomBytes, randomInt } from 'node:crypto'

import { exchangeByTcp, exchangeByUdp } from './dns-exchange.ts'
import {
  type DnsQuestion,
  type DnsResponse,
  RCODES,
  decodeResponse,
  encodeQuery,
  matchOf,
} from './dns-message.ts'
import { DnsError } from './dns-resolver.ts'
import type { NameServer } from './name-servers.ts'

const TCP_MS = 3000
/** With these a server says that it does not know EDNS (RFC 6891 §6.2.2, §7). */
const WITHOUT_EDNS: readonly number[] = [RCODES.formErr, RCODES.notImp, RCODES.badVers]
const ERRORS: ReadonlyMap<number, string> = new Map([
  [RCODES.formErr, 'EFORMERR'],
  [RCODES.servFail, 'ESERVFAIL'],
  [RCODES.notImp, 'ENOTIMP'],
  [RCODES.refused, 'EREFUSED'],
])

/**
 * Asks one server over UDP, and over TCP for what is truncated. The response has the id, the question and the letters' case
 * of the query, and says that the name or the record exists or does not. Rejects with a `DnsError` for any other.
 */
export async function askServer(
  server: NameServer,
  question: DnsQuestion,
  timeoutMs: number,
): Promise<DnsResponse> {
  try {
    const first = await respond(server, { question, timeoutMs, edns: true })
    const response = WITHOUT_EDNS.includes(first.rcode)
      ? await respond(server, { question, timeoutMs, edns: false })
      : first
    const code = errorOf(response)
    if (code !== undefined) throw new DnsError(code, question)
    return response
  } catch (error) {
    if (error instanceof DnsError) throw error
    const code = error instanceof RangeError ? 'EBADRESP' : 'ECONNREFUSED'
    throw new DnsError(code, question, { cause: error })
  }
}

interface Asking {
  readonly question: DnsQuestion
  readonly timeoutMs: number
  readonly edns: boolean
}

async function respond(server: NameServer, asking: Asking): Promise<DnsResponse> {
  const { question, timeoutMs, edns } = asking
  const name = server.keepsCase ? inRandomCase(question.name) : question.name
  const query = encodeQuery(randomInt(0x1_0000), { ...question, name }, { edns })
  const message = await exchangeByUdp(server, query, timeoutMs)
  if (!message) throw new DnsError('ETIMEOUT', question)
  if (matchOf(query, message) === 'case' && server.keepsCase) {
    server.noteCaseLost()
    return respond(server, asking)
  }
  const response = decodeResponse(message)
  if (!response.isTruncated) return response
  const whole = await exchangeByTcp(server, query, TCP_MS)
  if (!whole) throw new DnsError('ETIMEOUT', question)
  return decodeResponse(whole)
}

/** The code of `node:dns`; undefined for a response that says what there is. */
function errorOf(response: DnsResponse): string | undefined {
  const { rcode, isAuthoritative, isRecursive, answers } = response
  if (rcode === RCODES.nxDomain) return undefined
  if (rcode !== RCODES.noError) return ERRORS.get(rcode) ?? 'EBADRESP'
  // A server that only says who else may know.
  return answers.length === 0 && !isAuthoritative && !isRecursive ? 'EREFUSED' : undefined
}

/** Who forges a response must guess it, too (0x20). */
function inRandomCase(name: string): string {
  const bits = randomBytes(name.length)
  return name.replaceAll(/[a-z]/g, (letter, at: number) =>
    (bits[at] ?? 0) & 1 ? letter.toUpperCase() : letter,
  )
}

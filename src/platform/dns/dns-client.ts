import { randomBytes, randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'

import { hasCode } from '#base/error-code.ts'
import { Limiter } from '#base/limiter.ts'
import type { DnsServerAddress } from '#config/config.ts'

import {
  type DnsQuestion,
  type DnsResponse,
  RCODES,
  decodeResponse,
  encodeQuery,
  matchOf,
  RECORD_TYPES,
  dataOf,
  negativeTtlSeconds,
  aliasTarget,
} from './dns-message.ts'
import { canonicalName } from './dns-name.ts'
import { DnsError, type DnsAnswer } from './dns-resolver.ts'
import type { NameServer, NameServers } from './name-servers.ts'

/** A server has so long to respond, and longer when it is asked again. */
const ROUNDS_MS = [1500, 2500]

/** All servers together, for all names that one leads to. */
const DEADLINE_MS = 6000

/** Each takes a socket. */
const MAX_CONCURRENT = 256

/** Without a response: another time there may be one. */
const SILENT = ['ETIMEOUT', 'ECONNREFUSED']

const TCP_MS = 3000

/** With these a server says that it does not know EDNS (RFC 6891 §6.2.2, §7). */
const WITHOUT_EDNS: readonly number[] = [RCODES.formErr, RCODES.notImp, RCODES.badVers]
const ERRORS: ReadonlyMap<number, string> = new Map([
  [RCODES.formErr, 'EFORMERR'],
  [RCODES.servFail, 'ESERVFAIL'],
  [RCODES.notImp, 'ENOTIMP'],
  [RCODES.refused, 'EREFUSED'],
])

/** As many as resolvers follow. */
const MAX_ALIASES = 8

/** A message, or undefined where none came in time. */
type Received = Promise<Buffer | undefined>

interface Asking {
  readonly question: DnsQuestion
  readonly timeoutMs: number
  readonly edns: boolean
}

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

/** Asks recursive name servers, one after the other and each twice, until one says what there is. */
export class DnsClient {
  readonly #servers: NameServers
  readonly #queries = new Limiter({
    permits: MAX_CONCURRENT,
    maxWaitMs: DEADLINE_MS,
    refuse: () => Object.assign(new Error('Too many DNS queries at once'), { code: 'ETIMEOUT' }),
  })

  constructor(servers: NameServers) {
    this.#servers = servers
  }

  /** The name is canonical. Rejects with a `DnsError` where it cannot be found out now. */
  query(question: DnsQuestion): Promise<DnsOutcome> {
    return this.#queries.run(() => this.#follow(question))
  }

  async #follow(question: DnsQuestion): Promise<DnsOutcome> {
    const endsAt = performance.now() + DEADLINE_MS
    let [name, ttlSeconds] = [question.name, Infinity]
    for (let aliases = 0; aliases <= MAX_ALIASES; aliases += 1) {
      const outcome = await this.#askAll({ ...question, name }, endsAt)
      ttlSeconds = Math.min(ttlSeconds, outcome.ttlSeconds)
      if (!('alias' in outcome)) return { ...outcome, ttlSeconds }
      const target = canonicalName(outcome.alias)
      if (target === undefined) throw new DnsError('EBADRESP', question)
      name = target
    }
    throw new DnsError('ESERVFAIL', question)
  }

  async #askAll(question: DnsQuestion, endsAt: number): Promise<DnsOutcome | DnsAlias> {
    const servers = new Set(await this.#servers.inOrder())
    let failure: unknown = new DnsError('ETIMEOUT', question)
    for (const roundMs of ROUNDS_MS) {
      for (const server of servers) {
        const timeoutMs = Math.min(roundMs, endsAt - performance.now())
        if (timeoutMs <= 0) throw failure
        try {
          return await ask(server, question, timeoutMs)
        } catch (error) {
          const isSilent = hasCode(error, ...SILENT)
          // What a server says of a name it says again, and it counts for more than the silence of another.
          if (!isSilent) servers.delete(server)
          if (!isSilent || hasCode(failure, ...SILENT)) failure = error
        }
      }
    }
    throw failure
  }
}

async function ask(
  server: NameServer,
  question: DnsQuestion,
  timeoutMs: number,
): Promise<DnsOutcome | DnsAlias> {
  try {
    const response = await askServer(server, question, timeoutMs)
    server.noteResponse()
    return outcomeOf(response, question)
  } catch (error) {
    if (hasCode(error, ...SILENT)) server.noteSilence()
    if (error instanceof RangeError) throw new DnsError('EBADRESP', question, { cause: error })
    throw error
  }
}

/**
 * Asks one server over UDP, and over TCP for what is truncated. The response has the id, the question and the letters' case
 * of the query, and says that the name or the record exists or does not. Rejects with a `DnsError` for any other.
 */
async function askServer(
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

/**
 * Sends a query from a port of its own and resolves with the first datagram from that server that responds to it; all others
 * are forged or late. Rejects where the network says that the server is away.
 */
async function exchangeByUdp(server: DnsServerAddress, query: Buffer, timeoutMs: number): Received {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>()
  const socket = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4')
  const timer = setTimeout(() => resolve(undefined), timeoutMs)
  try {
    socket.on('error', reject)
    socket.on('message', (message, from) => {
      const isServer = from.port === server.port && isFrom(server, from.address)
      if (isServer && matchOf(query, message) !== undefined) resolve(message)
    })
    socket.connect(server.port, server.address, (error?: Error | null) => {
      if (error) return reject(error)
      socket.send(query, (failure) => failure && reject(failure))
    })
    return await promise
  } finally {
    clearTimeout(timer)
    socket.close()
  }
}

/** The same over a connection (RFC 7766), for responses that no datagram holds. */
async function exchangeByTcp(server: DnsServerAddress, query: Buffer, timeoutMs: number): Received {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>()
  const socket = connect({ host: server.address, port: server.port })
  const timer = setTimeout(() => resolve(undefined), timeoutMs)
  let received = Buffer.alloc(0)
  try {
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('The DNS server closed the connection')))
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      const end = received.length < 2 ? Infinity : 2 + received.readUInt16BE(0)
      if (received.length >= end) resolve(received.subarray(2, end))
    })
    const length = Buffer.alloc(2)
    length.writeUInt16BE(query.length)
    socket.write(Buffer.concat([length, query]))
    const message = await promise
    if (message && matchOf(query, message) === undefined) {
      throw new Error('The DNS server responded to another query')
    }
    return message
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}

/** An IPv6 address has several texts: there the connected socket takes nothing from another. */
const isFrom = ({ address }: DnsServerAddress, from: string): boolean =>
  isIPv6(address) || address === from

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

import { decodeName, encodeName } from './dns-name.ts'
import type { DnsAnswer } from './dns-resolver.ts'

/** RFC 1035 §3.2.2, RFC 3596 §2.1. */
export const RECORD_TYPES = { A: 1, CNAME: 5, PTR: 12, MX: 15, TXT: 16, AAAA: 28 } as const
export type RecordType = keyof typeof RECORD_TYPES

const [SOA, OPT] = [6, 41]
const INTERNET = 1
const HEADER_BYTES = 12
const FLAGS = { response: 0x8000, opcode: 0x7800, authoritative: 0x0400, truncated: 0x0200 }
const RECURSION = { desired: 0x0100, available: 0x0080 }
/** As much as passes every network in one piece (DNS flag day 2020). */
const UDP_BYTES = 1232
/** More than any answer needs: 64 KiB hold 5000. */
const MAX_RECORDS = 1000
export const RCODES = {
  noError: 0,
  formErr: 1,
  servFail: 2,
  nxDomain: 3,
  notImp: 4,
  refused: 5,
  badVers: 16,
} as const

/** Of servers that could not read the query. */
const UNREAD: readonly number[] = [RCODES.formErr, RCODES.notImp]

export interface DnsQuestion {
  /** Canonical, with letters in any case. */
  readonly name: string
  readonly type: RecordType
}

interface DnsRecord {
  /** In lower case. */
  readonly name: string
  readonly type: number
  readonly ttlSeconds: number
  /** Where its data are in the message. */
  readonly start: number
  readonly end: number
}

export interface DnsResponse {
  readonly message: Buffer
  readonly rcode: number
  readonly isTruncated: boolean
  readonly isAuthoritative: boolean
  readonly isRecursive: boolean
  readonly answers: readonly DnsRecord[]
  readonly authorities: readonly DnsRecord[]
}

/** A query with one question (RFC 1035 §4.1), with EDNS(0) (RFC 6891) unless the server does not know it. */
export function encodeQuery(
  id: number,
  { name, type }: DnsQuestion,
  { edns }: { readonly edns: boolean },
): Buffer {
  const header = Buffer.alloc(HEADER_BYTES)
  header.writeUInt16BE(id, 0)
  header.writeUInt16BE(RECURSION.desired, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(edns ? 1 : 0, 10)
  const question = Buffer.concat([encodeName(name), uint16s(RECORD_TYPES[type], INTERNET)])
  const option = edns ? [Buffer.alloc(1), uint16s(OPT, UDP_BYTES, 0, 0, 0)] : []
  return Buffer.concat([header, question, ...option])
}

/**
 * Whether the message responds to the query: its id, its question, letter for letter (`exact`) or except for their case (`case`).
 * A server that cannot read the query may leave the question out.
 */
export function matchOf(query: Buffer, message: Buffer): 'exact' | 'case' | undefined {
  if (message.length < HEADER_BYTES || !isResponseTo(query, message)) return undefined
  const [rcode, questions] = [message.readUInt16BE(2) & 0xf, message.readUInt16BE(4)]
  if (questions === 0) return UNREAD.includes(rcode) ? 'exact' : undefined
  const end = decodeName(query, HEADER_BYTES).end + 4
  const [asked, echoed] = [query, message].map((each) => each.toString('latin1', HEADER_BYTES, end))
  if (asked === echoed) return 'exact'
  return asked?.toLowerCase() === echoed?.toLowerCase() ? 'case' : undefined
}

function isResponseTo(query: Buffer, message: Buffer): boolean {
  const flags = message.readUInt16BE(2)
  const isResponse = (flags & FLAGS.response) !== 0 && (flags & FLAGS.opcode) === 0
  return isResponse && message.readUInt16BE(0) === query.readUInt16BE(0)
}

/** Throws a RangeError for a message that is broken. */
export function decodeResponse(message: Buffer): DnsResponse {
  const flags = message.readUInt16BE(2)
  const [questions = 0, ...counts] = [4, 6, 8, 10].map((at) => message.readUInt16BE(at))
  if (questions > 1 || counts.reduce((sum, count) => sum + count, 0) > MAX_RECORDS) {
    throw new RangeError('A response with too many parts')
  }
  let at = questions === 0 ? HEADER_BYTES : decodeName(message, HEADER_BYTES).end + 4
  const [answers = [], authorities = [], additional = []] = counts.map((count) =>
    Array.from({ length: count }, () => {
      const { record, end } = decodeRecord(message, at)
      at = end
      return record
    }),
  )
  // RFC 6891 §6.1.3: the upper bits of the code are in the place of a TTL.
  const upper = (additional.find(({ type }) => type === OPT)?.ttlSeconds ?? 0) >>> 24
  return {
    message,
    rcode: (upper << 4) | (flags & 0xf),
    isTruncated: (flags & FLAGS.truncated) !== 0,
    isAuthoritative: (flags & FLAGS.authoritative) !== 0,
    isRecursive: (flags & RECURSION.available) !== 0,
    answers,
    authorities,
  }
}

/** What records of one type say, as `node:dns` gives it. */
export function dataOf(
  { message }: DnsResponse,
  type: RecordType,
  records: readonly DnsRecord[],
): DnsAnswer {
  const name = ({ start }: DnsRecord) => decodeName(message, start).name
  switch (type) {
    case 'A':
      return records.map(({ start, end }) => [...exactly(message, [start, end], 4)].join('.'))
    case 'AAAA':
      return records.map(({ start, end }) => ipv6Text(exactly(message, [start, end], 16)))
    case 'TXT':
      return records.map(({ start, end }) => strings(message.subarray(start, end)))
    case 'MX':
      return records.map(({ start }) => ({
        priority: message.readUInt16BE(start),
        exchange: decodeName(message, start + 2).name,
      }))
    case 'CNAME':
    case 'PTR':
      return records.map(name)
  }
}

/** The name that a CNAME leads to. */
export const aliasTarget = ({ message }: DnsResponse, { start }: DnsRecord): string =>
  decodeName(message, start).name

/** How long the absence of a record may be kept (RFC 2308 §5); undefined where the server does not say so. */
export function negativeTtlSeconds({ message, authorities }: DnsResponse): number | undefined {
  const soa = authorities.find(({ type }) => type === SOA)
  return soa && Math.min(soa.ttlSeconds, positive(message.readUInt32BE(soa.end - 4)))
}

function decodeRecord(message: Buffer, at: number): { record: DnsRecord; end: number } {
  const { name, end: fixed } = decodeName(message, at)
  const type = message.readUInt16BE(fixed)
  const start = fixed + 10
  const end = start + message.readUInt16BE(fixed + 8)
  if (end > message.length) throw new RangeError('A record ends early')
  const isOption = type === OPT
  if (!isOption && message.readUInt16BE(fixed + 2) !== INTERNET) {
    throw new RangeError('A record of another class')
  }
  const ttl = message.readUInt32BE(fixed + 4)
  return { record: { name, type, ttlSeconds: isOption ? ttl : positive(ttl), start, end }, end }
}

/** RFC 2181 §8: a TTL with its highest bit set is none. */
const positive = (ttl: number): number => (ttl > 0x7fff_ffff ? 0 : ttl)

function exactly(message: Buffer, [start, end]: [number, number], length: number): Buffer {
  if (end - start !== length) throw new RangeError('An address of another length')
  return message.subarray(start, end)
}

function ipv6Text(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16))
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

/** RFC 1035 §3.3.14: each byte a character, as `node:dns` has them. */
function strings(bytes: Buffer): string[] {
  const found: string[] = []
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + bytes.readUInt8(at)
    if (end > bytes.length) throw new RangeError('A text ends early')
    found.push(bytes.toString('latin1', at + 1, end))
    at = end
  }
  return found
}

function uint16s(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2)
  for (const [at, value] of values.entries()) bytes.writeUInt16BE(value, at * 2)
  return bytes
}

import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'

import type { DMARCResult, DNSResolver } from 'mailauth'

import { yieldingChunksOf } from '#base/chunks.ts'
import { withTimeout } from '#base/with-timeout.ts'
import type { DnsResolver } from '#platform/dns/dns-resolver.ts'
import { SmtpReply } from '#platform/smtp-server/smtp-reply.ts'

import { dmarcOf } from './author-domains.ts'
import { mailauth } from './mailauth.ts'
import type { MessageAuthentication } from './model.ts'

/** Whatever DNS does, a sender whose message was read waits no longer for it. */
const DEADLINE_MS = 20_000
/** Then what its authors' domains ask for has this time: who signs with names that DNS is slow to answer comes past no policy. */
const POLICY_MS = 5000
const MAX_HEADER_CHARACTERS = 16_384
/** Read within two milliseconds. */
const PIECE_BYTES = 32 * 1024
const RESULT_SEPARATOR = ';\r\n '
const END_OF_HEADER = Buffer.from('\r\n\r\n')
/** Whatever may be a field of DKIM (RFC 6376) or ARC (RFC 8617). */
const SIGNED = /dkim-|arc-/i

export interface AuthenticationRequest {
  readonly address: string
  readonly heloName: string
  readonly sender: string
  /** Who says so, in the header. */
  readonly hostname: string
}

interface AuthoredRequest extends AuthenticationRequest {
  /** The addresses in From that the message is shown with, and names without one. Asked for once all of it was read. */
  readonly authors: () => readonly string[]
}

export interface AuthenticationOutcome {
  readonly authentication: MessageAuthentication
  /** Received-SPF and Authentication-Results, each line with its CRLF; empty when nothing could be found out. */
  readonly header: string
}

const NOT_KNOWN: MessageAuthentication = {
  spf: 'temperror',
  dkim: 'temperror',
  dmarc: 'temperror',
  arc: 'temperror',
  spfDomain: null,
  dkimDomains: [],
  fromDomain: null,
  dmarcPolicy: null,
}

/**
 * SPF, DKIM, ARC and DMARC of a message, as mailauth finds them. What cannot be found out is a `temperror`. Rejects with an
 * `SmtpReply` for a message that must be refused, and with nothing else.
 */
export async function authenticateMessage(
  body: Uint8Array | ReadableStream<Uint8Array>,
  request: AuthoredRequest,
  resolver: DnsResolver,
): Promise<AuthenticationOutcome> {
  const input = body instanceof Uint8Array ? inTurns(whatCounts(body)) : Readable.fromWeb(body)
  try {
    const found = authenticated(input, request, resolver)
    if (input instanceof Readable) await Promise.race([found, finished(input)])
    return await withTimeout(found, DEADLINE_MS, () => unknown(request, resolver))
  } catch (error) {
    if (error instanceof SmtpReply) throw error
    return unknown(request, resolver)
  } finally {
    // Others read the same bytes at the pace of this one.
    if (input instanceof Readable) input.resume()
  }
}

/**
 * What DMARC asks for (RFC 9989 §5.4): a message that fails is refused where its domain says `reject`, and put off where
 * the failure may be DNS's own. Returns undefined for a message that may come in.
 */
export function dmarcRefusal(found: MessageAuthentication): SmtpReply | undefined {
  const { spf, dkim, dmarc, dmarcPolicy, fromDomain } = found
  if (dmarcPolicy !== 'reject') return undefined
  const isUncertain = dmarc === 'temperror' || [spf, dkim].includes('temperror')
  if (dmarc !== 'fail' && dmarc !== 'temperror') return undefined
  if (isUncertain) {
    const text = `The sender cannot be authenticated now, and ${fromDomain} refuses what is not: try again later`
    return new SmtpReply(451, '4.7.1', text)
  }
  const text = `${fromDomain} asks to refuse mail that it did not authenticate (DMARC p=reject): SPF ${spf}, DKIM ${dkim}`
  return new SmtpReply(550, '5.7.1', text)
}

/** Of a message without a signature the header: neither SPF nor DMARC looks at more, and the library reads byte by byte. */
function whatCounts({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  const message = Buffer.from(buffer, byteOffset, byteLength)
  const end = message.indexOf(END_OF_HEADER)
  if (end < 0) return message
  const header = message.subarray(0, end + END_OF_HEADER.length)
  return SIGNED.test(header.toString('latin1')) ? message : header
}

/** The library takes milliseconds for a long header: yields to other connections in between. */
function inTurns(message: Buffer): Buffer | Readable {
  return message.length <= PIECE_BYTES
    ? message
    : Readable.from(yieldingChunksOf(message, PIECE_BYTES))
}

async function authenticated(
  input: Buffer | Readable,
  request: AuthoredRequest,
  resolver: DnsResolver,
): Promise<AuthenticationOutcome> {
  const { address, heloName, sender, hostname, authors } = request
  const { authenticate } = await mailauth()
  const found = await authenticate(input, {
    ip: address,
    helo: heloName,
    sender,
    mta: hostname,
    trustReceived: false,
    // The authors that it reads may be others than those that are shown.
    disableDmarc: true,
    disableBimi: true,
    resolver: forMailauth(resolver),
  })
  const { spf, dkim, arc, headers } = found
  const signatures = dkim.results
  const passed = signatures.filter(({ status }) => status.result === 'pass')
  const dmarc = await dmarcOf(found, authors(), forMailauth(resolver))
  const authentication = {
    spf: spf === false ? 'none' : spf.status.result,
    dkim: bestOf(signatures.map(({ status }) => status.result)),
    dmarc: dmarc === false ? 'none' : dmarc.status.result,
    arc: arc === false ? 'none' : arc.status.result,
    spfDomain: spf === false ? null : spf.domain,
    dkimDomains: [...new Set(passed.map(({ signingDomain }) => signingDomain ?? ''))],
    fromDomain: dmarc === false ? null : (dmarc.status.header?.from ?? null),
    dmarcPolicy: dmarc === false ? null : (dmarc.policy ?? null),
  }
  return { authentication, header: withDmarc(headers, dmarc) }
}

/** The outcome for a message of which nothing could be found out, with what its authors' domains ask for, where DNS says that soon. */
async function unknown(
  { authors }: AuthoredRequest,
  resolver: DnsResolver,
): Promise<AuthenticationOutcome> {
  const asked = async () => {
    const nothing = {
      spf: false as const,
      dkim: { headerFrom: [], results: [] },
      arc: false as const,
    }
    return dmarcOf(nothing, authors(), forMailauth(resolver))
  }
  const dmarc = await withTimeout(asked(), POLICY_MS, () => false as const).catch(orRefused)
  const policy = dmarc === false ? undefined : dmarc.policy
  if (dmarc === false || policy === undefined) return { authentication: NOT_KNOWN, header: '' }
  const fromDomain = dmarc.status.header?.from ?? null
  return { authentication: { ...NOT_KNOWN, fromDomain, dmarcPolicy: policy }, header: '' }
}

function orRefused(error: unknown): false {
  if (error instanceof SmtpReply) throw error
  return false
}

/** Adds DMARC to Authentication-Results, the last of the fields. Other results that there is no room for are left out. */
function withDmarc(fields: string, dmarc: DMARCResult | false): string {
  const info = dmarc === false ? 'dmarc=none' : dmarc.info
  const whole = fields.trimEnd()
  const end =
    whole.length <= MAX_HEADER_CHARACTERS
      ? whole.length
      : Math.max(0, whole.lastIndexOf(RESULT_SEPARATOR, MAX_HEADER_CHARACTERS))
  return `${whole.slice(0, end)}${RESULT_SEPARATOR}${info}\r\n`
}

/** Of several signatures the best counts: RFC 6376 §6.1. */
function bestOf(results: readonly string[]): string {
  const order = ['pass', 'temperror', 'fail', 'policy', 'permerror', 'neutral']
  return order.find((result) => results.includes(result)) ?? 'none'
}

/** The library's type leaves out that MX records come as objects, which it reads. */
const forMailauth = (resolver: DnsResolver): DNSResolver => resolver as DNSResolver

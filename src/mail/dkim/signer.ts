import { yieldingChunksOf } from '#base/chunks.ts'

import type { DkimKeys } from './keys.ts'
import { digestMessage } from './message-digest.ts'

/** Hashed within a millisecond. */
const PIECE_BYTES = 64 * 1024
const ALGORITHM = 'RSASSA-PKCS1-v1_5'

/** The fields that are signed wherever a message has them (RFC 6376 §5.4.1), each as often as it is there. */
const SIGNED_FIELDS = [
  'from',
  'to',
  'cc',
  'subject',
  'date',
  'message-id',
  'reply-to',
  'in-reply-to',
  'references',
  'mime-version',
  'content-type',
]

/** Named one time more than it is there, so that the signature breaks when another is added (RFC 6376 §8.15). */
const OVERSIGNED_FIELDS = ['from']

/** Characters of base64 in a line of the field. */
const FOLD = 72

/** In whose name a message is signed. */
export interface DkimIdentity {
  readonly siteId: string
  /** Of the address in From. */
  readonly domain: string
  /** When the message was made: the same time, bytes and key give the same signature. */
  readonly signedAt: Date
}

/** What a signature says beside its hashes. */
interface SignatureTags {
  readonly domain: string
  readonly selector: string
  readonly signedAt: Date
  readonly bodyHash: string
}

/** Signs the mail of sites: RFC 6376, `rsa-sha256` (RFC 8301), relaxed/relaxed. */
export class DkimSigner {
  readonly #keys: Pick<DkimKeys, 'signingKey'>

  constructor(keys: Pick<DkimKeys, 'signingKey'>) {
    this.#keys = keys
  }

  /**
   * The `DKIM-Signature` field with its line end, to be sent before the message. Reads the message once and holds no more of
   * it than its head. Rejects when it has no From, or a head of more than 1 MiB.
   */
  async sign(
    { siteId, domain, signedAt }: DkimIdentity,
    open: () => AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): Promise<string> {
    const { selector, key } = await this.#keys.signingKey(siteId)
    const { head, bodyHash } = await digestMessage(open())
    const { field, input } = unsignedField(head, { domain, selector, signedAt, bodyHash })
    const signature = await crypto.subtle.sign(ALGORITHM, key, Buffer.from(input, 'latin1'))
    return signedField(field, Buffer.from(signature).toString('base64'))
  }

  /** The message with its signature before it. Others have their turn between its pieces. */
  async signed(identity: DkimIdentity, message: Uint8Array): Promise<Uint8Array> {
    const field = await this.sign(identity, () => yieldingChunksOf(message, PIECE_BYTES))
    return Buffer.concat([Buffer.from(field), message])
  }
}

/**
 * The field without its signature, as it is hashed and as it is sent: `b=` comes last. `input` is what the signature is
 * made of (RFC 6376 §3.7). Throws when the head has no From.
 */
function unsignedField(
  head: string,
  { domain, selector, signedAt, bodyHash }: SignatureTags,
): { readonly field: string; readonly input: string } {
  const signed = signedFields(head)
  const names = signed.map(({ name }) => name)
  if (!names.includes('from')) throw new Error('A message without From cannot be signed')
  const field = [
    'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed;',
    ` d=${domain}; s=${selector}; t=${Math.floor(signedAt.getTime() / 1000)};`,
    ` h=${[...names, ...OVERSIGNED_FIELDS].join(':\r\n  ')};`,
    ` bh=${bodyHash};`,
    ' b=',
  ].join('\r\n')
  return { field, input: [...signed.map(({ line }) => line), relaxed(field)].join('\r\n') }
}

/** The whole field with its line end. */
const signedField = (field: string, signature: string): string =>
  `${field}${signature.replaceAll(new RegExp(`.{${FOLD}}(?=.)`, 'g'), '$&\r\n  ')}\r\n`

/** In the order in which a verifier takes them: of several of one name the last comes first (RFC 6376 §5.4.2). */
function signedFields(head: string): { readonly name: string; readonly line: string }[] {
  const fields = head
    .split(/\r?\n(?![ \t])/)
    .filter((line) => line.includes(':'))
    .map((line) => ({ name: nameOf(line), line: relaxed(line) }))
    .toReversed()
  return SIGNED_FIELDS.flatMap((name) => fields.filter((field) => field.name === name))
}

const nameOf = (line: string): string => line.slice(0, line.indexOf(':')).trim().toLowerCase()

/** RFC 6376 §3.4.2. */
function relaxed(line: string): string {
  const value = line
    .slice(line.indexOf(':') + 1)
    .replaceAll(/\r?\n/g, '')
    .replaceAll(/[ \t]+/g, ' ')
  return `${nameOf(line)}:${trimBlanks(value)}`
}

/** No other blanks than these are trimmed: a no-break space belongs to the value. */
const trimBlanks = (text: string): string => text.replace(/^ /, '').replace(/ $/, '')

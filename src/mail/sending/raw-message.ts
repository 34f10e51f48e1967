import { invalid } from '#base/app-error.ts'
import { canonicalLocalPart, localPartAt, withoutPlusPart } from '#mail/addresses/local-part.ts'
import { readAddresses } from '#mail/headers/addresses.ts'
import { HEADER_BLOCK_BYTES } from '#mail/headers/header-fields.ts'
import { rfc5322Date } from '#mail/headers/rfc5322-date.ts'

const END_OF_HEADER = Buffer.from('\r\n\r\n')
const LF = 0x0a
const CR = 0x0d
/** RFC 5322 §3.6.8. */
const FIELD = /^([\x21-\x39\x3b-\x7e]+)[ \t]*:/
/** Only the envelope names them; the receiving server writes who handed the message over. */
const DROPPED = ['bcc', 'resent-bcc', 'return-path']

/** Who sends a message that was composed elsewhere, and what it gets where it has none of its own. */
export interface RawSender {
  /** Of the site, canonical. */
  readonly localPart: string
  readonly domain: string
  /** Without brackets. */
  readonly headerId: string
  readonly date: Date
}

/** What is wrong with the header of a message, as the end of a sentence about it. */
export class HeaderFault extends Error {
  override readonly name = 'HeaderFault'
}

/**
 * Makes a message that a client composed fit to be sent from a mailbox (RFC 6409 §8): adds Date and Message-ID where they are
 * missing, and takes out Bcc. Leaves the body as it is. Throws a `ValidationError` for a message that names another author.
 */
export function prepareRawMessage(message: Buffer, sender: RawSender): Buffer {
  const text = message.toString('latin1')
  const bytes = text.includes('\r\n')
    ? message
    : Buffer.from(text.replaceAll('\n', '\r\n'), 'latin1')
  try {
    const end = bytes.indexOf(END_OF_HEADER)
    if (end < 0) throw noEnd()
    return Buffer.concat([preparedHeader(bytes.subarray(0, end), sender), bytes.subarray(end)])
  } catch (error) {
    throw error instanceof HeaderFault ? invalid('raw', error.message) : error
  }
}

/** The same while the message comes: holds its header alone. Rejects with a `HeaderFault`. */
export async function* preparedMessage(
  content: AsyncIterable<Uint8Array>,
  sender: RawSender,
): AsyncGenerator<Uint8Array> {
  let head: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of content) {
    if (head === undefined) {
      yield chunk
      continue
    }
    head = Buffer.concat([head, chunk])
    const end = head.indexOf(END_OF_HEADER)
    if (end > HEADER_BLOCK_BYTES || (end < 0 && head.length > HEADER_BLOCK_BYTES)) throw tooLong()
    if (end < 0) continue
    yield preparedHeader(head.subarray(0, end), sender)
    yield head.subarray(end)
    head = undefined
  }
  if (head !== undefined) throw noEnd()
}

/** The same of a message that was staged: a `ValidationError` names `rawRef`. Lines may end in LF alone. */
export async function* preparedStagedMessage(
  content: AsyncIterable<Uint8Array>,
  sender: RawSender,
): AsyncGenerator<Uint8Array> {
  try {
    yield* preparedMessage(withCrlf(content), sender)
  } catch (error) {
    throw error instanceof HeaderFault ? invalid('rawRef', error.message) : error
  }
}

/** Ends lines in CRLF where the first one ends in LF alone. */
async function* withCrlf(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isWhole: boolean | undefined
  let before = 0
  for await (const chunk of content) {
    const end = chunk.indexOf(LF)
    if (isWhole === undefined && end >= 0) isWhole = (end === 0 ? before : chunk[end - 1]) === CR
    before = chunk.at(-1) ?? before
    yield isWhole === false
      ? Buffer.from(Buffer.from(chunk).toString('latin1').replaceAll('\n', '\r\n'), 'latin1')
      : chunk
  }
}

/** Whether it is the mailbox's address, which may have a plus part. */
export function isSender(
  { localPart, domain }: Pick<RawSender, 'localPart' | 'domain'>,
  address: string,
): boolean {
  const found = canonicalLocalPart(localPartAt(domain, address) ?? '')
  return (withoutPlusPart(found) ?? found) === localPart
}

function preparedHeader(header: Buffer, sender: RawSender): Buffer {
  const fields = header.toString('latin1').split(/\r\n(?![ \t])/)
  const names = fields.map(nameOf)
  checkAuthor(fields, names, sender)
  const added = [
    ...(names.includes('date') ? [] : [`Date: ${rfc5322Date(sender.date)}`]),
    ...(names.includes('message-id') ? [] : [`Message-ID: <${sender.headerId}>`]),
  ]
  const kept = fields.filter((_, at) => !DROPPED.includes(names[at] ?? ''))
  return Buffer.from([...kept, ...added].join('\r\n'), 'latin1')
}

function nameOf(field: string): string {
  const name = FIELD.exec(field)?.[1]
  if (name !== undefined) return name.toLowerCase()
  throw new HeaderFault('has a line in its header that is no field like "Subject: Hello"')
}

/** One From, with one address, which is the mailbox's; the same of Sender, if there is one. */
function checkAuthor(fields: readonly string[], names: readonly string[], sender: RawSender): void {
  for (const name of ['from', 'sender']) {
    const found = fields.filter((_, at) => names[at] === name)
    if (name === 'sender' && found.length === 0) continue
    const values = found.map((field) => Buffer.from(valueOf(field), 'latin1').toString())
    const { addresses } = readAddresses(values)
    const [address = ''] = addresses
    // With an escape in it, others may read another address.
    const isPlain = values.every((value) => !/\p{Cc}/u.test(value.replaceAll('\t', '')))
    const isOne = found.length === 1 && addresses.length === 1 && isPlain
    if (!isOne || !isSender(sender, address)) {
      const own = `${sender.localPart}@${sender.domain}`
      throw new HeaderFault(
        `must have one ${name === 'from' ? 'From' : 'Sender'}, which is "${own}"`,
      )
    }
  }
}

const valueOf = (field: string): string =>
  field.slice(field.indexOf(':') + 1).replaceAll(/\r\n[ \t]+/g, ' ')

const noEnd = (): HeaderFault =>
  new HeaderFault('has no empty line between its header and its body')

const tooLong = (): HeaderFault =>
  new HeaderFault(`has a header of more than ${HEADER_BLOCK_BYTES} bytes`)

import { invalid } from '#base/app-error.ts'
import { canonicalLocalPart, localPartAt, withoutPlusPart } from '#mail/addresses/local-part.ts'
import { readAddresses } from '#mail/headers/addresses.ts'

const END_OF_HEADER = '\r\n\r\n'
/** RFC 5322 §3.6.8. */
const FIELD = /^([\x21-\x39\x3b-\x7e]+)[ \t]*:/
/** Nobody but the envelope names them; what says who handed the message over is written by those who take it. */
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

/**
 * Makes a message that somebody composed fit to be sent from a mailbox (RFC 6409 §8): adds Date and Message-ID where they are
 * missing, and takes out Bcc. Leaves the body as it is. Throws a `ValidationError` for a message that names another author.
 */
export function prepareRawMessage(message: Buffer, sender: RawSender): Buffer {
  const text = message.toString('latin1')
  const whole = text.includes('\r\n') ? text : text.replaceAll('\n', '\r\n')
  const end = whole.indexOf(END_OF_HEADER)
  if (end < 0) throw invalid('raw', 'has no empty line between its header and its body')
  const fields = whole.slice(0, end).split(/\r\n(?![ \t])/)
  const names = fields.map(nameOf)
  checkAuthor(fields, names, sender)
  const added = [
    ...(names.includes('date') ? [] : [`Date: ${rfc5322Date(sender.date)}`]),
    ...(names.includes('message-id') ? [] : [`Message-ID: <${sender.headerId}>`]),
  ]
  const kept = fields.filter((_, at) => !DROPPED.includes(names[at] ?? ''))
  return Buffer.from([...kept, ...added].join('\r\n') + whole.slice(end), 'latin1')
}

function nameOf(field: string): string {
  const name = FIELD.exec(field)?.[1]
  if (name !== undefined) return name.toLowerCase()
  throw invalid('raw', 'has a line in its header that is no field like "Subject: Hello"')
}

/** One From, with one address, which is the mailbox's; the same of Sender, if there is one. */
function checkAuthor(fields: readonly string[], names: readonly string[], sender: RawSender): void {
  for (const name of ['from', 'sender']) {
    const found = fields.filter((_, at) => names[at] === name)
    if (name === 'sender' && found.length === 0) continue
    const values = found.map((field) => Buffer.from(valueOf(field), 'latin1').toString())
    const { addresses } = readAddresses(values)
    const [address = ''] = addresses
    if (found.length !== 1 || addresses.length !== 1 || !isOf(sender, address)) {
      const own = `${sender.localPart}@${sender.domain}`
      throw invalid(
        'raw',
        `must have one ${name === 'from' ? 'From' : 'Sender'}, which is "${own}"`,
      )
    }
  }
}

const valueOf = (field: string): string =>
  field.slice(field.indexOf(':') + 1).replaceAll(/\r\n[ \t]+/g, ' ')

function isOf({ localPart, domain }: RawSender, address: string): boolean {
  const found = canonicalLocalPart(localPartAt(domain, address) ?? '')
  return (withoutPlusPart(found) ?? found) === localPart
}

const rfc5322Date = (date: Date): string => date.toUTCString().replace(/GMT$/, '+0000')

import type { Bounce } from './protocol.ts'
import type { ReadMessage } from './read-message.ts'

const TYPES = new Set(['message/delivery-status', 'message/global-delivery-status'])
const FIELD = /^([!-9;-~]{1,100})[ \t]{0,10}:(.*)$/
/** In front of an address or a diagnosis. */
const TYPE = /^[a-z0-9-]{1,30}\s{0,5};\s{0,5}/i
const STATUS = /[245]\.\d{1,3}\.\d{1,3}/
const KINDS: Readonly<Record<string, Bounce['kind']>> = {
  failed: 'failed',
  delayed: 'delayed',
  delivered: 'delivered',
  relayed: 'delivered',
  expanded: 'delivered',
}

type Fields = ReadonlyMap<string, string>

/** The delivery status notification in a message (RFC 3464): of several recipients the one that matters most. */
export function reportOf({ parts }: ReadMessage): Omit<Bounce, 'originalMessageId'> | undefined {
  const part = parts.find(({ type }) => TYPES.has(type))
  if (!part) return undefined
  const reports = groupsOf(part.text()).flatMap((fields) => recipientReport(fields) ?? [])
  return reports.find(({ kind }) => kind === 'failed') ?? reports[0]
}

function recipientReport(fields: Fields): Omit<Bounce, 'originalMessageId'> | undefined {
  const field = (name: string): string => fields.get(name) ?? ''
  const recipient = addressIn(field('final-recipient')) ?? addressIn(field('original-recipient'))
  const action = /^[a-z]+/i.exec(field('action'))?.[0].toLowerCase() ?? null
  if (recipient === null && action === null) return undefined
  const status = STATUS.exec(field('status'))?.[0] ?? null
  const diagnostic = field('diagnostic-code').replace(TYPE, '')
  return { kind: kindOf(action, status), recipient, status, action, diagnostic }
}

const kindOf = (action: string | null, status: string | null): Bounce['kind'] =>
  KINDS[action ?? ''] ?? (status?.startsWith('4') ? 'delayed' : 'failed')

/** `rfc822; ann@shop.test`, or without the type. */
const addressIn = (value: string): string | null =>
  value
    .replace(TYPE, '')
    .replaceAll(/[<>\s]/g, '')
    .toLowerCase() || null

/** The fields of each group; an empty line stands between two. */
const groupsOf = (text: string): Fields[] =>
  text
    .replaceAll(/\r\n?/g, '\n')
    .split(/\n[ \t]{0,20}\n/)
    .map((group) => fieldsOf(group))

/** Of two with the same name the first. */
function fieldsOf(group: string): Fields {
  const lines = group.replaceAll(/\n[ \t]/g, ' ').split('\n')
  const fields = lines.flatMap((line): [string, string][] => {
    const [, name = '', value = ''] = FIELD.exec(line) ?? []
    return name === '' ? [] : [[name.toLowerCase(), value.trim()]]
  })
  return new Map(fields.toReversed())
}

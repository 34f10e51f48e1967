const TTL_SECONDS = 3600
/** RFC 1035 §3.3: of one string of a TXT record. */
const MAX_STRING = 255

/** A record as a zone file has it (RFC 1035 §5.1); a long text in strings of at most 255 bytes. */
export function zoneLine({
  name,
  type,
  value,
}: {
  readonly name: string
  readonly type: 'MX' | 'TXT' | 'CNAME'
  readonly value: string
}): string {
  const data = type === 'TXT' ? quotedStrings(value) : `${value}.`
  return `${name}. ${TTL_SECONDS} IN ${type} ${data}`
}

const quotedStrings = (text: string): string =>
  (text.match(new RegExp(`.{1,${MAX_STRING}}`, 'g')) ?? [''])
    .map((part) => `"${part.replaceAll(/["\\]/g, '\\$&')}"`)
    .join(' ')

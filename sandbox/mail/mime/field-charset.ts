import { charsetOf } from './charset-labels.ts'
import { type HeaderFields } from './header-fields.ts'
import { parseParameters } from './parameters.ts'

const MAX_FIELD_BYTES = 4096

/** What raw bytes in fields are likely of: the charset that a body is declared to be of, unless letters of ASCII are others in it. */
export function fieldCharset(label: string | undefined): string | undefined {
  const kind = charsetOf(label)?.kind
  return kind === 'single-byte' || kind === 'multi-byte' ? label : undefined
}

export function charsetOfFields(fields: HeaderFields): string | undefined {
  const { parameters } = parseParameters(fields.text('content-type', { maxBytes: MAX_FIELD_BYTES }))
  return fieldCharset(parameters.get('charset'))
}

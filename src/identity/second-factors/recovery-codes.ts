import { randomBytes } from 'node:crypto'

import { isSameText } from '#base/same-text.ts'

const COUNT = 10
const CODE_BYTES = 10
/** Without characters that look the same: 32 characters, so that a byte's lowest five bits name one. */
const ALPHABET = '23456789abcdefghijkmnpqrstuvwxyz'
const GROUP = /.{5}/g

/** Ten codes of 50 bits, each good once: `k3f9a-x7m2q`. */
export const newRecoveryCodes = (): readonly string[] =>
  Array.from({ length: COUNT }, () => {
    const code = [...randomBytes(CODE_BYTES)].map((byte) => ALPHABET[byte & 31]).join('')
    return (code.match(GROUP) ?? []).join('-')
  })

/** The codes that are left when one of them is used; undefined when it is none of them. */
export function withoutCode(
  codes: readonly string[],
  typed: string,
): readonly string[] | undefined {
  const code = plain(typed)
  // All are compared, so that the time tells nothing.
  const isUsed = codes.map((each) => isSameText(plain(each), code))
  return isUsed.includes(true) ? codes.filter((_each, at) => !isUsed[at]) : undefined
}

/** As people copy them: in any case, with blanks and hyphens. */
const plain = (code: string): string => code.toLowerCase().replaceAll(/[\s-]/g, '')

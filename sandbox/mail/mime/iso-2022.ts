import { Buffer } from 'node:buffer'

const ESC = '\x1b'
const ESC_BYTE = 0x1b
const SHIFT_OUT = '\x0e'
const SHIFT_IN = '\x0f'
const KOREAN = `${ESC}$)C`
const eucJp = new TextDecoder('euc-jp')
const eucKr = new TextDecoder('euc-kr')
const gb18030 = new TextDecoder('gb18030')

/** What an escape of ISO-2022-JP switches to: half-width kana are one byte a character, `extra` is JIS X 0212. */
type Mode = 'ascii' | 'kanji' | 'kana' | 'extra'
const ESCAPES: readonly (readonly [sequence: string, mode: Mode])[] = [
  ['$B', 'kanji'],
  ['$@', 'kanji'],
  ['$(B', 'kanji'],
  ['$(@', 'kanji'],
  ['$(D', 'extra'],
  ['(I', 'kana'],
  ['(B', 'ascii'],
  ['(J', 'ascii'],
  ['(H', 'ascii'],
]
/** The bytes of these characters in EUC-JP and EUC-KR. */
const IN_EUC: Readonly<Record<Mode, (text: string) => string>> = {
  ascii: (text) => text,
  kanji: withHighBits,
  kana: (text) => text.replaceAll(/[!-_]/g, (letter) => `\x8e${withHighBits(letter)}`),
  extra: (text) => text.replaceAll(/[!-~]{2}/g, (pair) => `\x8f${withHighBits(pair)}`),
}

/** Whether bytes have escapes that switch to other characters, and of which of the two charsets. */
export function escapesIn(bytes: Buffer): 'iso-2022-jp' | 'iso-2022-kr' | undefined {
  for (let at = bytes.indexOf(ESC_BYTE); at >= 0; at = bytes.indexOf(ESC_BYTE, at + 1)) {
    const sequence = bytes.toString('latin1', at + 1, at + 4)
    if (sequence === '$)C') return 'iso-2022-kr'
    if (/^(?:\$[@B]|\$\([@BD]|\(I)/.test(sequence)) return 'iso-2022-jp'
  }
  return undefined
}

/** RFC 1468, with the half-width kana and JIS X 0212 that mailers add: the same characters as in EUC-JP. */
export function decodeIso2022Jp(bytes: Uint8Array): string {
  const [first = '', ...others] = latin1(bytes).split(ESC)
  const pieces = [withKana(first)]
  let mode: Mode = 'ascii'
  for (const piece of others) {
    const [sequence, next] = ESCAPES.find(([start]) => piece.startsWith(start)) ?? []
    mode = next ?? mode
    const text = piece.slice(sequence?.length ?? 0)
    pieces.push(mode === 'ascii' ? withKana(text) : firstLine(text, IN_EUC[mode]))
  }
  return eucJp.decode(Buffer.from(pieces.join(''), 'latin1'))
}

/** RFC 1557: between SO and SI the characters of EUC-KR. */
export const decodeIso2022Kr = (bytes: Uint8Array): string =>
  eucKr.decode(Buffer.from(shifted(latin1(bytes).replaceAll(KOREAN, ''), withHighBits), 'latin1'))

/** RFC 1843: between `~{` and `~}` the characters of GB 2312; `~~` is a tilde, and one at the end of a line is none. */
export function decodeHz(bytes: Uint8Array): string {
  let isShifted = false
  const pieces = latin1(bytes)
    .split(/(~[{}~\n])/)
    .map((piece) => {
      if (piece === '~~') return '~'
      if (piece === '~\n') return ''
      if (piece !== '~{' && piece !== '~}')
        return isShifted ? firstLine(piece, withHighBits) : piece
      isShifted = piece === '~{'
      return ''
    })
  return gb18030.decode(Buffer.from(pieces.join(''), 'latin1'))
}

const withKana = (text: string): string => shifted(text, IN_EUC.kana)

/** What is between SO and SI in other characters. */
function shifted(text: string, encode: (text: string) => string): string {
  const [first = '', ...others] = text.split(SHIFT_OUT)
  const pieces = others.map((piece) => {
    const end = piece.indexOf(SHIFT_IN)
    if (end < 0) return firstLine(piece, encode)
    return firstLine(piece.slice(0, end), encode) + piece.slice(end).replaceAll(SHIFT_IN, '')
  })
  return [first.replaceAll(SHIFT_IN, ''), ...pieces].join('')
}

/** Each line begins in ASCII. */
function firstLine(text: string, encode: (text: string) => string): string {
  const end = text.indexOf('\n')
  return end < 0 ? encode(text) : encode(text.slice(0, end)) + text.slice(end)
}

function withHighBits(text: string): string {
  const bytes = Buffer.from(text, 'latin1')
  return latin1(bytes.map((byte) => (byte > 0x20 ? byte | 0x80 : byte)))
}

const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')

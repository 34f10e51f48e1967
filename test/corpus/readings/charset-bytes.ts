import { TextDecoder } from 'node:util'

const ESCAPE = 0x1b
const TWO_BYTE_LEADS = Array.from({ length: 0x7f }, (_, at) => at + 0x80)
const TRAILS = Array.from({ length: 0xc0 }, (_, at) => at + 0x40)
const JAPANESE = Buffer.of(ESCAPE, 0x24, 0x42)
const ASCII = Buffer.of(ESCAPE, 0x28, 0x42)
const tables = new Map<string, ReadonlyMap<string, Buffer>>()

/** The bytes that a decoder of the charset makes these words of. Throws where the charset has none for a letter. */
export function encodeIn(charset: string, words: string): Buffer {
  switch (charset) {
    case 'utf-8':
      return Buffer.from(words)
    case 'utf-16le':
      return Buffer.from(words, 'utf16le')
    case 'utf-16be':
      return Buffer.from(words, 'utf16le').swap16()
    case 'iso-2022-jp':
      return inIso2022Jp(words)
    default:
      return byTable(charset, words)
  }
}

function byTable(charset: string, words: string): Buffer {
  let table = tables.get(charset)
  if (!table) tables.set(charset, (table = tableOf(charset)))
  return Buffer.concat(
    Array.from(words, (letter) => {
      const bytes = table.get(letter)
      if (!bytes) throw new Error(`${charset} has no "${letter}"`)
      return bytes
    }),
  )
}

/** Every letter that one or two bytes are decoded to, with the first bytes that are. */
function tableOf(charset: string): ReadonlyMap<string, Buffer> {
  const decoder = new TextDecoder(charset)
  const table = new Map<string, Buffer>()
  const note = (bytes: Buffer) => {
    const letter = decoder.decode(bytes)
    if (Array.from(letter).length === 1 && letter !== '\uFFFD' && !table.has(letter)) {
      table.set(letter, bytes)
    }
  }
  for (let byte = 0; byte < 256; byte += 1) note(Buffer.of(byte))
  for (const lead of TWO_BYTE_LEADS) for (const trail of TRAILS) note(Buffer.of(lead, trail))
  return table
}

/** JIS X 0208 has the codes of EUC-JP without their highest bits. */
function inIso2022Jp(words: string): Buffer {
  const pieces: Buffer[] = []
  let isJapanese = false
  for (const letter of words) {
    const bytes = byTable('euc-jp', letter)
    const needsJapanese = bytes.length === 2
    if (needsJapanese !== isJapanese) pieces.push(needsJapanese ? JAPANESE : ASCII)
    isJapanese = needsJapanese
    pieces.push(Buffer.from(bytes.map((byte) => byte & 0x7f)))
  }
  return Buffer.concat(isJapanese ? [...pieces, ASCII] : pieces)
}

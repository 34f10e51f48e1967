const REPLACED = '\uFFFD'
const BEYOND_ASCII = /[^\0-\x7F\uFFFD]/
const windows1252 = new TextDecoder('windows-1252')

/** Reads what says that it is UTF-8 and has not one character of it as Windows would: many programs name the wrong charset. */
class LenientTextDecoder extends TextDecoder {
  override decode(...[bytes, options]: Parameters<TextDecoder['decode']>): string {
    const text = super.decode(bytes, options)
    const isWrong = this.encoding === 'utf-8' && text.includes(REPLACED) && !BEYOND_ASCII.test(text)
    return isWrong ? windows1252.decode(bytes) : text
  }
}

/** From now on this process decodes text that way. postal-mime makes its decoders when it needs them, from the global class. */
export function decodeLeniently(): void {
  Object.assign(globalThis, { TextDecoder: LenientTextDecoder })
}

/** RFC 2047 §2 gives an encoded word 75 characters: these are 45 octets in base64, with the delimiters around them. */
const WORD_OCTETS = 45

/** A text as encoded words of UTF-8, folded: nothing in it has a meaning, and no line gets too long. */
export function encodedWords(text: string): string {
  const words: string[] = []
  let word = ''
  for (const letter of text) {
    if (Buffer.byteLength(word + letter) > WORD_OCTETS) {
      words.push(word)
      word = ''
    }
    word += letter
  }
  return [...words, word]
    .map((part) => `=?utf-8?B?${Buffer.from(part).toString('base64')}?=`)
    .join('\r\n ')
}

/** Letters that Unicode does not take apart, and that people type as others. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ŧ: 't',
  ł: 'l',
  ı: 'i',
  ŋ: 'n',
  ς: 'σ',
  // Arabic: alef wasla, alef maksura, teh marbuta; Persian yeh and keheh.
  '\u0671': '\u0627',
  '\u0649': '\u064A',
  '\u0629': '\u0647',
  '\u06CC': '\u064A',
  '\u06A9': '\u0643',
  // Devanagari: candrabindu is written as anusvara by many.
  '\u0901': '\u0902',
}
const TO_REPLACE = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g')

/** Marks that make no other word, and what has no width. Marks of other scripts are parts of their words. */
const TO_REMOVE = new RegExp(
  [
    // Accents of Latin, Greek and Cyrillic.
    '[\\u0300-\\u036F\\u0483-\\u0487\\u1AB0-\\u1AFF\\u1DC0-\\u1DFF\\u20D0-\\u20FF\\uFE20-\\uFE2F]',
    // Points of Hebrew.
    '[\\u0591-\\u05BD\\u05BF\\u05C1\\u05C2\\u05C4\\u05C5\\u05C7]',
    // Tatweel, vowels, hamza and signs of recitation of Arabic.
    '[\\u0610-\\u061A\\u0640\\u064B-\\u065F\\u0670\\u06D6-\\u06DC\\u06DF-\\u06E8\\u06EA-\\u06ED]',
    // The nukta of Devanagari.
    '\\u093C',
    // Variation selectors; what formats and is not seen.
    '[\\uFE00-\\uFE0F]',
    '\\p{Cf}',
  ].join('|'),
  'gu',
)
/** Marks beyond what UAX #15 (Stream-Safe Text Format) allows in a row: normalizing sorts a run of them, in quadratic time. */
const LONG_RUNS = /([\p{M}\uFF9E\uFF9F]{30})[\p{M}\uFF9E\uFF9F]+/gu
const OTHER_DIGITS = /[\p{Nd}--[0-9]]/gv
const NOT_ASCII = /[^\0-\x7F]/
/** A nasal consonant of Devanagari that has no vowel, before another consonant of its class: many write it as anusvara. */
const NASALS_BEFORE_CONSONANTS = new RegExp(
  [
    '\\u0919(?=\\u094D[\\u0915-\\u0918])',
    '\\u091E(?=\\u094D[\\u091A-\\u091D])',
    '\\u0923(?=\\u094D[\\u091F-\\u0922])',
    '\\u0928(?=\\u094D[\\u0924-\\u0927])',
    '\\u092E(?=\\u094D[\\u092A-\\u092D])',
  ]
    .map((nasal) => `${nasal}\\u094D`)
    .join('|'),
  'g',
)
const ANUSVARA = '\u0902'
/** What is folded together: a character with its marks, the letters of a Korean syllable, and nasals of Devanagari with what follows. */
const CLUSTERS =
  /(?:[\u1100-\u11FF]+|(?:[\u0919\u091E\u0923\u0928\u0929\u092E][\p{M}\p{Cf}\u0640]*)+[\u0915-\u0939\u0958-\u095F]|[^])[\p{M}\p{Cf}\u0640\uFF9E\uFF9F]*/gu

/**
 * The text as it is compared: compatibility forms, case, accents and digits of all scripts are folded (UAX #15, NFKD), and
 * of more than thirty marks in a row the first are kept. Folding the clusters of a text one by one gives the same.
 */
export function foldText(text: string): string {
  if (!NOT_ASCII.test(text)) return text.toLowerCase()
  const decomposed = withoutLongRuns(text).normalize('NFKD')
  const folded = decomposed
    .toLowerCase()
    .replace(TO_REMOVE, '')
    .replace(NASALS_BEFORE_CONSONANTS, ANUSVARA)
    .replace(TO_REPLACE, (letter) => LETTERS[letter] ?? letter)
    .replace(OTHER_DIGITS, asciiDigit)
  // What was between runs may have been removed.
  return withoutLongRuns(folded).normalize('NFC')
}

const withoutLongRuns = (text: string): string => text.replace(LONG_RUNS, '$1')

export interface FoldedText {
  readonly folded: string
  /** Where in the text each UTF-16 unit of `folded` comes from, and its length at the end. */
  readonly offsets: readonly number[]
}

export function foldWithOffsets(text: string): FoldedText {
  let folded = ''
  const offsets: number[] = []
  for (const { 0: cluster, index } of text.matchAll(CLUSTERS)) {
    const part = foldText(cluster)
    folded += part
    for (let unit = 0; unit < part.length; unit += 1) offsets.push(index)
  }
  offsets.push(text.length)
  return { folded, offsets }
}

/** Digits of a script are ten in a row, from a code point that ends with 0 or 6. */
function asciiDigit(digit: string): string {
  const code = digit.codePointAt(0) ?? 0
  const low = code & 0xf
  const startsAtZero = /\p{Nd}/u.test(String.fromCodePoint(code - low))
  return String(startsAtZero ? low : low - 6)
}

/** They change the order in which text is shown (Unicode UAX #9), or are not seen at all. */
const DIRECTION_MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu
const LINE_END = /\r\n|[\r\n\v\f\u0085\u2028\u2029]/gu
const CONTROLS = /[^\P{Cc}\n\t]/gu

/** One line of text without control characters and marks that turn it. */
export const cleanLine = (text: string): string => cleanLines(text).replaceAll(/\s+/gu, ' ').trim()

/** The same with its lines kept, each ended by LF. */
export const cleanLines = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(LINE_END, '\n')
    .replaceAll(CONTROLS, '')
    .replaceAll(DIRECTION_MARKS, '')
    .trim()

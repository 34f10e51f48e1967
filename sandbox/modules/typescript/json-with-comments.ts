/** Strings, comments, and commas that nothing follows but comments. */
const PARTS = /"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|,(?=\s*[}\]])/g

/** The value of JSON that may have comments and trailing commas, as configuration files do; undefined for other text. */
export function parseJsonWithComments(text: string): unknown {
  const kept = (part: string): string => (part.startsWith('"') ? part : ' ')
  try {
    // A comma before a comment is the last one only once the comment is gone.
    return JSON.parse(withoutComments(text).replaceAll(PARTS, kept))
  } catch {
    return undefined
  }
}

const withoutComments = (text: string): string =>
  text.replace(/^\uFEFF/, '').replaceAll(PARTS, (part) => (part.startsWith('/') ? ' ' : part))

import { AppError } from '#base/app-error.ts'

/** A rules file is read whole and judged line by line. */
export const MAX_RULES_FILE_BYTES = 256 * 1024
const MAX_LINE_CHARACTERS = 4096

/** A line that says something. */
export interface RuleLine {
  readonly number: number
  /** Without the outer spaces. */
  readonly text: string
  readonly isIndented: boolean
}

/** The lines of `_redirects` or `_headers`, without comments. */
export function ruleLines(file: string, text: string): RuleLine[] {
  const lines: RuleLine[] = []
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n/)
    .entries()) {
    const number = index + 1
    if (line.length > MAX_LINE_CHARACTERS) {
      throw ruleFault(file, number, `is longer than ${MAX_LINE_CHARACTERS} characters`)
    }
    if (/(?!\t)\p{Cc}/u.test(line)) throw ruleFault(file, number, 'has a control character')
    const trimmed = line.trim()
    if (trimmed !== '' && !trimmed.startsWith('#')) {
      lines.push({ number, text: trimmed, isIndented: /^[ \t]/.test(line) })
    }
  }
  return lines
}

export const ruleFault = (file: string, line: number, message: string): AppError =>
  new AppError('InvalidArtifact', `${file}, line ${line}: ${message}`)

const QUOTES = /^>*/
const SIGNATURE = '-- '

interface Line {
  /** How often it is quoted. */
  readonly depth: number
  readonly content: string
  /** Whether the next line goes on with it. */
  readonly isFlowed: boolean
}

/** Text whose lines are those of its paragraphs (RFC 3676): a line that ends in a blank goes on in the next one. */
export function unflowed(text: string, { delSp }: { readonly delSp: boolean }): string {
  const shown: string[] = []
  let pieces: string[] = []
  let last: Line | undefined
  for (const line of text.split('\n').map(lineOf)) {
    const goesOn =
      last?.isFlowed === true && last.depth === line.depth && line.content !== SIGNATURE
    if (!goesOn) {
      shown.push(pieces.join(''))
      pieces = [prefixOf(line)]
    }
    pieces.push(line.isFlowed && delSp ? line.content.slice(0, -1) : line.content)
    last = line
  }
  return [...shown.slice(1), pieces.join('')].join('\n')
}

/** RFC 3676 §4.4 has one blank before a line that begins with one, or with what would be read as something else. */
function lineOf(line: string): Line {
  const depth = QUOTES.exec(line)?.[0].length ?? 0
  const content = line.slice(line.charAt(depth) === ' ' ? depth + 1 : depth)
  return { depth, content, isFlowed: content.endsWith(' ') && content !== SIGNATURE }
}

const prefixOf = ({ depth }: Line): string => (depth === 0 ? '' : `${'>'.repeat(depth)} `)

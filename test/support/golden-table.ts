import { NO_CODE, PLAIN_CODES, type WalkedRoute } from './route-walk.ts'

/** A part of the table: one listener, or one pool. */
export interface GoldenSection {
  readonly title: string
  readonly says: string
  readonly rows: readonly WalkedRoute[]
}

const HEADING = '## '
const ROW = /^\| `(?<route>[^`]+)` \| (?<cells>.*) \|$/

/** The table as it is kept. A section after the first shows the routes that the first one has not, or has with other cells. */
export function goldenMarkdown(
  intro: readonly string[],
  [first, ...others]: readonly [GoldenSection, ...GoldenSection[]],
): string {
  const known = new Map(first.rows.map((row) => [row.route, cellsOf(row)]))
  const lines = others.flatMap(({ title, says, rows }) => {
    const different = rows.filter((row) => known.get(row.route) !== cellsOf(row))
    const same = `${rows.length - different.length} of ${rows.length} routes respond as above.`
    return sectionLines({ title, says: `${says} ${same}`, rows: different })
  })
  const codes = Object.entries(PLAIN_CODES).map(([status, code]) => `\`${status}\` ${code}`)
  const legend = [
    `- A status alone has its plain code: ${codes.join(', ')}.`,
    `  \`404 Thing\`: ThingNotFound. \`${NO_CODE}\`: no code.`,
    '',
  ]
  return ['# The golden table', '', ...intro, ...legend, ...sectionLines(first), ...lines].join(
    '\n',
  )
}

/** One line for each cell that differs, and for each route that one of the tables has not. */
export function goldenChanges(before: string, after: string): string[] {
  const [old, now] = [readCells(before), readCells(after)]
  const changed = [...now].flatMap(([cell, value]) => {
    const was = old.get(cell)
    return was === value ? [] : [`${cell}: ${was ?? 'not there'} → ${value}`]
  })
  const gone = [...old].flatMap(([cell, was]) =>
    now.has(cell) ? [] : [`${cell}: ${was} → not there`],
  )
  return [...changed, ...gone]
}

function sectionLines({ title, says, rows }: GoldenSection): string[] {
  if (rows.length === 0) return [`${HEADING}${title}`, '', says, '']
  const callers = Object.keys(rows[0]?.cells ?? {})
  return [
    `${HEADING}${title}`,
    '',
    says,
    '',
    `| Route | ${callers.join(' | ')} |`,
    `| --- |${' --- |'.repeat(callers.length)}`,
    ...rows.map((row) => `| \`${row.route}\` | ${cellsOf(row)} |`),
    '',
  ]
}

const cellsOf = ({ cells }: WalkedRoute): string => Object.values(cells).join(' | ')

/** Cells by section, route and caller. */
function readCells(markdown: string): Map<string, string> {
  const cells = new Map<string, string>()
  let [section, callers]: [string, string[]] = ['', []]
  for (const line of markdown.split('\n')) {
    if (line.startsWith(HEADING)) section = line.slice(HEADING.length)
    if (line.startsWith('| Route | ')) callers = line.slice('| Route | '.length, -2).split(' | ')
    const row = ROW.exec(line)?.groups
    row?.['cells']?.split(' | ').forEach((value, at) => {
      cells.set(`${section}: ${row['route']}, ${callers[at]}`, value)
    })
  }
  return cells
}

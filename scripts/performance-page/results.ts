/** A table of the results file. */
export interface ResultsSection {
  readonly words: string
  readonly headings: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export interface ParsedResults {
  /** What the list at the top says: `Day`, `Machine`, … */
  readonly facts: ReadonlyMap<string, string>
  readonly sections: readonly ResultsSection[]
  /** Lines that say which figures do not count. */
  readonly faults: readonly string[]
}

const FACT = /^- (\w+): (.+)$/gm
const SECTION = /^## (.+)\n\n```text\n([\s\S]*?)\n```$/gm
const FAULT = /^NOT CLEAN: .+$/gm
/** Cells are that far apart at least. */
const GAP = /\s{2,}/

/** Reads what `npm run bench` wrote. Throws where a row has no cell for a heading. */
export function parseResults(text: string): ParsedResults {
  return {
    facts: new Map([...text.matchAll(FACT)].map(([, name = '', value = '']) => [name, value])),
    sections: [...text.matchAll(SECTION)].map(([, words = '', table = '']) =>
      parseSection(words, table),
    ),
    faults: [...text.matchAll(FAULT)].map(([line]) => line),
  }
}

function parseSection(words: string, table: string): ResultsSection {
  const [head = '', ...lines] = table.split('\n')
  const headings = ['', ...head.trim().split(GAP)]
  const rows = lines.map((line) => line.trim().split(GAP))
  const width = Math.max(...rows.map((row) => row.length))
  const uneven = rows.find((row) => row.length !== width)
  if (uneven || width < headings.length)
    throw new Error(`"${words}" has a row that its headings do not fit: ${uneven?.join(' ') ?? ''}`)
  return {
    words,
    headings: [...headings, ...Array<string>(width - headings.length).fill('')],
    rows,
  }
}

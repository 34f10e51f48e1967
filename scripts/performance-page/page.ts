import { type ParsedResults, parseResults, type ResultsSection } from './results.ts'

const AIMS = 'Aims'
/** What a table is about, by its heading in the results file. */
const ABOUT: Readonly<Record<string, string>> = {
  'A small JSON job':
    'A payload of 40 bytes, a loop of 40 steps, an answer of 100 bytes (`bench/json-job.ts`). The bare servers have the job in their one handler, without sites, tokens, limits or a sandbox: they are what HTTP itself costs. workerd runs it as a worker with its defaults, and once as its README advises for more than one core: a process per core on one socket.',
  'The same job on many sites':
    'Each request goes to the next site. The workers of workerd are isolates of one process behind a worker that looks at the host. The ratio is against workerd with a single worker.',
  '20 KB in, 20 KB out': 'A text of 20,000 characters as JSON, which comes back as it was.',
  '1 MB in, 1 MB out': 'The same with 1,000,000 characters.',
  'One call of the host':
    'The code asks for one item of four and answers with it: `ctx.table.get` in the tables of Croft, in Postgres; `fetch` from an HTTP server on the same machine that holds the items in memory; workerd by a subrequest to that server. The CPU of that server is in none of the figures; the CPU of Postgres is in that of `ctx.table.get`.',
  'A site that was just published':
    'The time of the first call that new code answers, which no isolate has run before, and of the one after it.',
}

/** The page of the documentation that the results file makes. */
export function performancePage(resultsText: string): string {
  const results = parseResults(resultsText)
  const tables = results.sections.filter(({ words }) => words !== AIMS)
  const aims = results.sections.find(({ words }) => words === AIMS)
  return `${[
    '# Performance',
    '<!-- Written by `npm run bench:page` from bench/RESULTS.md. Change that, or scripts/performance-page. -->',
    introduction(results),
    ...(aims ? ['## Aims', PROFILE, table(aims)] : []),
    ...tables.flatMap((section) => [
      `## ${section.words}`,
      ...(ABOUT[section.words] === undefined ? [] : [ABOUT[section.words] ?? '']),
      table(section),
    ]),
    ...(results.faults.length > 0 ? ['## Not clean', list(results.faults)] : []),
    METHOD,
  ].join('\n\n')}\n`
}

const introduction = ({ facts }: ParsedResults): string =>
  `What calls of operations cost, side by side with other servers in one run. Absolute figures are those of one machine on one day; the ratios carry further. Your own: \`npm run bench\` on a Linux machine that does nothing else; it takes about 13 minutes.

${list([...facts].map(([name, value]) => `${name}: ${value}`))}`

const PROFILE =
  'Where the time goes, and so why aims are missed: [operation-profile.md](operation-profile.md).'

const METHOD = `## How it is measured

- HTTP/1.1 keep-alive on loopback, closed loop, one request at a time on each connection, from a generator in a process of its own on the same machine. It takes 10 to 13 µs of processor time a request itself, as much as a bare server does: the faster a subject, the more of the machine goes to the generator, and rates are closer together than costs.
- Croft is an installation as \`npm start\` makes it: embedded Postgres, its own sandbox hosts, tokens checked, limits and usage counted; only its log level is \`warn\`, as the others log nothing. Calls are \`POST /data/{operation}\` with a visitor's token. "Warm" runs the code; "cached" is answered from the operation's cache. For \`fetch\` a second installation may reach this machine.
- All subjects run at once and are measured in turn, round after round, so that other work of the machine affects all equally. A ratio is taken within a round; what is shown is the median of the rounds.
- "CPU µs" is processor time a request, from \`/proc\`, of the whole process tree: service, sandbox hosts, database. It is steadier than rates. "others" is the share of the machine that went to neither subject nor generator; a sample with more than 12 % is taken again. Ticks are counted by the hundredth of a second, so that it may be a little below nothing.
- Each answer's status is checked, and of some the text; a wrong one is listed as "not clean".

## What is not measured

TLS and HTTP/2, machines with more cores, ARM, the network, latency of a remote database, several replicas, connections that come and go, an open loop at a given rate (\`npm run load\` does that), memory (\`npm run load:warm-sites\`), and weeks of running.`

const list = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n')

/** The first column to the left, the others to the right, as the formatter sets tables. */
function table({ headings, rows }: ResultsSection): string {
  const lines = [headings, ...rows]
  const widths = headings.map((_, at) =>
    Math.max(at === 0 ? 3 : 4, ...lines.map((line) => line[at]?.length ?? 0)),
  )
  const padded = (line: readonly string[]): string =>
    `| ${widths
      .map((width, at) =>
        at === 0 ? (line[at] ?? '').padEnd(width) : (line[at] ?? '').padStart(width),
      )
      .join(' | ')} |`
  const rule = `| ${widths
    .map((width, at) => (at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
    .join(' | ')} |`
  return [padded(headings), rule, ...rows.map(padded)].join('\n')
}

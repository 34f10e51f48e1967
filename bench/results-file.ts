import { availableParallelism, release, totalmem, type as systemName } from 'node:os'

import type { BenchOptions } from './bench-options.ts'

/** The results file: what was measured, on what, and how. */
export const resultsFile = (table: string, options: BenchOptions, now: Date): string =>
  `# Results of \`npm run bench\`

${now.toISOString().slice(0, 10)}, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB of memory, ${systemName()} ${release().split('-')[0]}.

Every subject does the same small JSON job (\`bench/json-job.ts\`), over HTTP/1.1 keep-alive on loopback, under the same load generator in a process of its own.
The calls of Croft are \`POST /data/{operation}\` with a visitor's token, tokens checked and limits on, on an installation as \`npm start\` makes it (log level \`warn\`); workerd runs a plain worker with its defaults.
Closed loop; ${options.rounds} interleaved rounds of ${options.durationMs / 1000} s after ${options.warmupMs / 1000} s of warm-up, medians; ratios are taken within a round.
"CPU" is that of the subject's whole process tree: database, sandbox hosts and all. "Others" is the share of the machine that went to neither subject nor generator; a sample with much of it is repeated.

\`\`\`text
${table}
\`\`\`
`

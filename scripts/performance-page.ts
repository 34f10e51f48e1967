import { readFile, writeFile } from 'node:fs/promises'

import { performancePage } from './performance-page/page.ts'

/** Makes the page about speed from what the last full run of `npm run bench` wrote. */
const results = await readFile(new URL('../bench/RESULTS.md', import.meta.url), 'utf8')
await writeFile(
  new URL('../docs/explanation/performance.md', import.meta.url),
  performancePage(results),
)

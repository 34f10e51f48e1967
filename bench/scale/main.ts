import { readFile, writeFile } from 'node:fs/promises'

import { MEASURED } from './measured.ts'
import { USAGE, optionsOf } from './options.ts'
import { renewedPage } from './page.ts'
import { tableOf } from './table.ts'

const PAGE = new URL('../../docs/explanation/scale.md', import.meta.url)

async function main(args: readonly string[]): Promise<void> {
  const { plans, help, write } = optionsOf(args)
  if (help) console.log(USAGE)
  else if (write) await writeFile(PAGE, renewedPage(await readFile(PAGE, 'utf8')))
  else console.log(tableOf(plans, MEASURED))
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof TypeError)) throw error
  process.stderr.write(`${error.message}\n\n${USAGE}\n`)
  process.exitCode = 2
}

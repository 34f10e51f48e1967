import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import { commandPages } from './commands.ts'
import { environmentPage } from './environment.ts'
import { errorsPage } from './errors.ts'
import { routePages } from './http-routes.ts'
import { limitsPage } from './limits.ts'
import { metricsPage } from './metrics.ts'

const FOLDER = resolve(import.meta.dirname, '../../docs/reference')

/** The generated pages of the reference, by their paths. */
export async function referencePages(): Promise<ReadonlyMap<string, string>> {
  const limits = await readFile(join(FOLDER, 'limits.md'), 'utf8')
  const pages = new Map([
    ...commandPages(),
    ...routePages(),
    ['environment.md', environmentPage()],
    ['errors.md', errorsPage()],
    ['limits.md', limitsPage(limits)],
    ['metrics.md', metricsPage()],
  ])
  return new Map([...pages].map(([file, text]) => [join(FOLDER, file), text]))
}

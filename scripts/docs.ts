import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

import { docsSite } from './docs/docs-site.ts'

/** Builds the documentation as a static site: `npm run docs`, or `node scripts/docs.ts --out FOLDER`. */
const { values } = parseArgs({ options: { out: { type: 'string' } } })
const root = resolve(import.meta.dirname, '..')
const out = values.out === undefined ? join(root, 'dist-docs') : resolve(values.out)
const files = await docsSite(root)
// A folder that the caller names may hold other things.
if (values.out === undefined) await rm(out, { recursive: true, force: true })
for (const [path, content] of files) {
  await mkdir(dirname(join(out, path)), { recursive: true })
  await writeFile(join(out, path), content)
}
console.log(`built ${files.size} files: open ${join(out, 'index.html')}`)

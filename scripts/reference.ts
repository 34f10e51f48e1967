import { writeFile } from 'node:fs/promises'

import { referencePages } from './reference/reference-pages.ts'

/** Writes the generated pages of `docs/reference`, after what they describe has changed. */
for (const [path, text] of await referencePages()) await writeFile(path, text)

import { writeFile } from 'node:fs/promises'

import {
  DEFINITION_SCHEMA_FILE,
  definitionSchemaText,
} from './definition-schema/definition-schema.ts'
import { referencePages } from './reference/reference-pages.ts'

/** Writes the generated pages of `docs/reference` and the schema of `croft.json`, after what they describe has changed. */
for (const [path, text] of await referencePages()) await writeFile(path, text)
await writeFile(DEFINITION_SCHEMA_FILE, definitionSchemaText())

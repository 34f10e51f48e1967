import { readFile } from 'node:fs/promises'

import { expect, test } from 'vitest'

import { isJsonObject } from '#base/json-object.ts'

import { DEFINITION_SCHEMA_FILE, definitionSchemaText } from './definition-schema.ts'

/** Paths of the properties that have no description. */
function undescribed(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => undescribed(item, `${path}[]`))
  if (!isJsonObject(value)) return []
  const { properties, if: _condition, not: _refused, ...rest } = value
  const inside = Object.entries(rest).flatMap(([name, item]) =>
    undescribed(item, `${path}/${name}`),
  )
  if (!isJsonObject(properties)) return inside
  const missing = Object.entries(properties)
    .filter(([, schema]) => !isJsonObject(schema) || !schema['description'])
    .map(([name]) => `${path}.${name}`)
  const below = Object.entries(properties).flatMap(([name, schema]) =>
    undescribed(schema, `${path}.${name}`),
  )
  return [...missing, ...inside, ...below]
}

test('the schema of croft.json is what "npm run reference" writes', async () => {
  const written = await readFile(DEFINITION_SCHEMA_FILE, 'utf8')
  expect(written, 'run "npm run reference"').toBe(definitionSchemaText())
})

test('the schema describes each property, which an editor shows', () => {
  expect(undescribed(JSON.parse(definitionSchemaText()))).toEqual([])
  expect(undescribed({ properties: { name: { type: 'string' } } })).toEqual(['.name'])
})

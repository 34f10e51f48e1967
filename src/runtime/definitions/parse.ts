import { AppError, type FieldFault, invalid } from '#base/app-error.ts'
import { jsonTextWithin } from '#base/json-depth.ts'
import { isJsonObject } from '#base/json-object.ts'
import { invalidFields } from '#runtime/shape.ts'

import { renameFault } from './renames.ts'
import {
  type DefinedItem,
  type IndexedItem,
  SECTION_NAMES,
  type DefinitionSection,
  type SectionName,
} from './section.ts'

const MAX_DEFINITION_BYTES = 6 * 1024 * 1024
/** A payload may have the depth of a call's body, and lies three levels down. */
const MAX_DEFINITION_DEPTH = 131
const MAX_FAULTS = 50

/** A section that is absent is left alone; one that is there and empty names nothing. */
export type ParsedDefinition = ReadonlyMap<SectionName, readonly IndexedItem[]>

/** A site's runtime as one document, its parts linked by name. Throws one `ValidationError` with every fault it has. */
export function parseDefinition(
  sections: readonly DefinitionSection[],
  value: unknown,
): ParsedDefinition {
  const document = documentOf(value)
  const faults: FieldFault[] = Object.keys(document)
    .filter((name) => !SECTION_NAMES.some((section) => section === name))
    .map((name) => ({ field: name.slice(0, 100), message: 'is not a known field' }))
  const parsed = new Map<SectionName, readonly IndexedItem[]>()
  for (const section of sections) {
    const list = document[section.name]
    if (list !== undefined) parsed.set(section.name, parseSection(section, list, faults))
  }
  throwFaults(faults)
  return parsed
}

/** The definition in its one form: every default said, sorted by name. Holds the values of secrets. */
export function canonicalDefinition(parsed: ParsedDefinition): Record<string, readonly object[]> {
  return Object.fromEntries(
    [...parsed].map(([name, placed]) => [
      name,
      placed
        .map(({ item }) => item)
        .toSorted(byName)
        .map(({ canonical, renamedFrom }) =>
          renamedFrom === undefined ? canonical : { ...canonical, renamedFrom },
        ),
    ]),
  )
}

/** Throws one error with all of them, if there are any. */
export function throwFaults(faults: readonly FieldFault[]): void {
  if (faults.length > 0) throw invalidFields(faults.slice(0, MAX_FAULTS))
}

/** The faults of an error, as fields below `at`. What is no expected failure is thrown on. */
function faultsAt(at: string, error: unknown): FieldFault[] {
  if (!(error instanceof AppError)) throw error
  const details = error.details ?? [{ field: 'body', message: error.message }]
  return details.map(({ field, message }) => ({
    field: field === 'body' ? at : `${at}.${field}`,
    message,
  }))
}

function documentOf(value: unknown): Readonly<Record<string, unknown>> {
  if (!isJsonObject(value)) {
    throw invalidFields([{ field: 'definition', message: 'expected object' }])
  }
  checkDefinitionBounds(value)
  // Tells an editor the schema of the file, and nothing of the site.
  const { $schema, ...document } = value
  if ($schema === undefined || typeof $schema === 'string') return document
  throw invalidFields([{ field: '$schema', message: 'must be the address of a schema, as text' }])
}

/** Definitions that were found to be within the bounds. */
const checkedDefinitions = new WeakSet<object>()

/** Before anything walks it. Asking again about the same object costs nothing. */
export function checkDefinitionBounds(value: unknown): void {
  const definition = typeof value === 'object' && value !== null ? value : undefined
  if (definition && checkedDefinitions.has(definition)) return
  const text = jsonTextWithin(value, MAX_DEFINITION_DEPTH)
  if (text === undefined) {
    throw invalidFields([{ field: 'definition', message: 'is nested too deep' }])
  }
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_DEFINITION_BYTES) {
    throw new AppError(
      'PayloadTooLarge',
      `A definition is at most ${MAX_DEFINITION_BYTES} bytes of JSON, this one has ${bytes}`,
      { fields: { limitBytes: MAX_DEFINITION_BYTES } },
    )
  }
  if (definition) checkedDefinitions.add(definition)
}

function parseSection(
  section: DefinitionSection,
  list: unknown,
  faults: FieldFault[],
): readonly IndexedItem[] {
  const { name, maxItems } = section
  if (!Array.isArray(list)) {
    faults.push({ field: name, message: 'expected array' })
    return []
  }
  if (list.length > maxItems) {
    faults.push({ field: name, message: `holds at most ${maxItems}, this one has ${list.length}` })
    return []
  }
  const placed: IndexedItem[] = []
  const seen = new Set<string>()
  for (const [index, value] of list.entries()) {
    try {
      const item = parseItem(section, value)
      if (seen.has(item.name)) {
        faults.push({ field: `${name}[${index}]`, message: `"${item.name}" is defined twice` })
      }
      seen.add(item.name)
      placed.push({ index, item })
    } catch (error) {
      faults.push(...faultsAt(`${name}[${index}]`, error))
    }
  }
  const items = placed.map(({ item }) => item)
  for (const { index, item } of placed) {
    const message = renameFault(item, items)
    if (message) faults.push({ field: `${name}[${index}].renamedFrom`, message })
  }
  return placed
}

/** The name before is the section's own business only where it can be changed. */
function parseItem(section: DefinitionSection, value: unknown): DefinedItem {
  if (!section.rename || !isJsonObject(value) || !('renamedFrom' in value)) {
    return section.parse(value)
  }
  const { renamedFrom, ...rest } = value
  const item = section.parse(rest)
  if (typeof renamedFrom === 'string' && renamedFrom.length > 0 && renamedFrom.length <= 512) {
    return { ...item, renamedFrom }
  }
  throw invalid('renamedFrom', 'must be the name that it had before')
}

type Named = Pick<IndexedItem['item'], 'name'>

/** Compares by code unit, which gives the same order everywhere. */
export function byName({ name: a }: Named, { name: b }: Named): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

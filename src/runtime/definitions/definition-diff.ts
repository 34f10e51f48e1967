import { AppError } from '#base/app-error.ts'
import { canonicalJson } from '#base/canonical-json.ts'
import { isJsonObject } from '#base/json-object.ts'
import type { DefinitionChange, DefinitionDiff } from '#sites/deployments/deployment-changes.ts'

import { checkDefinitionBounds } from './parse.ts'
import { SECTION_NAMES, type SectionName } from './section.ts'

/** By what each section names its entries. */
const NAME_FIELDS: Readonly<Record<SectionName, string>> = {
  resources: 'name',
  operations: 'operation',
  jobs: 'jobId',
  groups: 'groupName',
  envVars: 'name',
}

/** Compares definitions by their texts, entry by entry, as they are written. What cannot be read has no entries. */
export const definitionDiff: DefinitionDiff = (before, after) => {
  const [earlier, later] = [entriesOf(before), entriesOf(after)]
  const changes: DefinitionChange[] = []
  for (const section of SECTION_NAMES) {
    const names = new Set([...earlier[section].keys(), ...later[section].keys()])
    for (const name of [...names].sort()) {
      const action = actionOf(earlier[section].get(name), later[section].get(name))
      if (action !== undefined) changes.push({ section, name, action })
    }
  }
  return changes
}

function actionOf(
  before: string | undefined,
  after: string | undefined,
): DefinitionChange['action'] | undefined {
  if (before === after) return undefined
  if (before === undefined) return 'added'
  return after === undefined ? 'removed' : 'changed'
}

type Entries = Readonly<Record<SectionName, ReadonlyMap<string, string>>>

function entriesOf(text: string | undefined): Entries {
  const document = documentOf(text)
  const section = (name: SectionName): ReadonlyMap<string, string> => {
    const list = document[name]
    if (!Array.isArray(list)) return new Map()
    return new Map(
      list
        .filter(isJsonObject)
        .map((entry) => [String(entry[NAME_FIELDS[name]]), canonicalJson(entry)]),
    )
  }
  return {
    resources: section('resources'),
    operations: section('operations'),
    jobs: section('jobs'),
    groups: section('groups'),
    envVars: section('envVars'),
  }
}

function documentOf(text: string | undefined): Readonly<Record<string, unknown>> {
  if (text === undefined) return {}
  try {
    const value: unknown = JSON.parse(text)
    checkDefinitionBounds(value)
    return isJsonObject(value) ? { ...value } : {}
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof AppError) return {}
    throw error
  }
}

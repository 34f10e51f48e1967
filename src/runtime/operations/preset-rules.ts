import { invalid } from '#base/app-error.ts'
import type { Resource } from '#runtime/resources/model.ts'
import type { TableConfig } from '#runtime/tables/table-config.ts'

import type { AuthRule } from './model.ts'
import { type PresetBinding, allowedFields, isMapField } from './preset-binding.ts'
import { presetOf } from './presets.ts'

/** What a binding may not be together with the rest of its operation. */
export function checkPresetUse(
  { preset: name, owner }: PresetBinding,
  use: { readonly auth: AuthRule; readonly cacheTtlSeconds: number },
): void {
  if (owner && use.auth.mode === 'public') {
    throw invalid('preset.owner', 'needs a caller: use auth mode "authenticated" or "groups"')
  }
  const preset = presetOf(name)
  if (preset && !preset.cacheable && use.cacheTtlSeconds > 0) {
    throw invalid('cache.ttlSeconds', `must be 0: what "${name}" answers cannot be kept`)
  }
}

/** Holds a binding against the table or bucket that it names. */
export function checkPresetResource(binding: PresetBinding, resource: Resource | undefined): void {
  const preset = presetOf(binding.preset)
  if (!preset) return
  if (!resource) {
    throw invalid('preset.resourceId', `resource "${binding.resourceId}" does not exist`)
  }
  if (resource.type !== preset.store) {
    throw invalid(
      'preset.resourceId',
      `"${resource.name}" is a ${resource.type}, "${binding.preset}" works on a ${preset.store}`,
    )
  }
  const config = resource.type === 'ddbTable' ? resource.config : undefined
  if (config) checkOwnerType(binding, config)
  checkRequired(binding, config)
}

/** The `sub` is text, so an attribute that is a key somewhere must be text there. */
function checkOwnerType({ owner }: PresetBinding, config: TableConfig): void {
  if (!owner || !('attribute' in owner)) return
  const schemas = [config, ...(config.globalSecondaryIndexes ?? [])]
  const keys = schemas.flatMap(({ partitionKey, sortKey }) => [
    partitionKey,
    sortKey ?? partitionKey,
  ])
  const wrong = keys.find(({ name, type }) => name === owner.attribute && type !== 'S')
  if (wrong) {
    throw invalid(
      'preset.owner.attribute',
      `"${wrong.name}" is a key of type ${wrong.type}: a "sub" is text, so it must be of type S`,
    )
  }
}

/** Refuses to bind an operation that no caller could call. */
function checkRequired(binding: PresetBinding, config: TableConfig | undefined): void {
  const { fixed = {}, preset } = binding
  const given = new Set([
    ...allowedFields(binding),
    ...Object.keys(fixed),
    ...fieldsFromOwner(binding, config),
  ])
  const missing = presetOf(preset)?.required.find((field) => !given.has(field))
  if (missing === undefined) return
  const how = isMapField(missing) ? 'or' : 'or, if callers may decide it,'
  throw invalid(
    `preset.fixed.${missing}`,
    `is required: fix "${missing}" ${how} name it in "allowed"`,
  )
}

/** What the owner's rule itself puts into every request. */
function fieldsFromOwner(
  { owner, fixed, allowed }: PresetBinding,
  config: TableConfig | undefined,
): string[] {
  if (!owner || !config || !('attribute' in owner)) return []
  const onIndex = fixed?.['indexName'] !== undefined || allowed?.includes('indexName') === true
  const isPartition = owner.attribute === config.partitionKey.name
  return isPartition && !onIndex ? ['keyConditionExpression', ...wholeKey(config)] : []
}

const wholeKey = ({ sortKey }: TableConfig): string[] => (sortKey === undefined ? ['key'] : [])

import { type Static, Type } from '@sinclair/typebox'

import { invalid } from '#base/app-error.ts'
import { ClosedObject } from '#base/closed-object.ts'
import { didYouMean } from '#base/did-you-mean.ts'
import { isJsonObject } from '#base/json-object.ts'

import { type Preset, PRESET_NAMES, type PresetName, isPresetName, presetOf } from './presets.ts'

const MAX_FIXED_CHARS = 32 * 1024
const MAX_FIELDS = 32

export const PresetInput = ClosedObject({
  preset: Type.String({ maxLength: 64 }),
  resourceId: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  /** Fields of the action's input that callers cannot change. */
  fixed: Type.Optional(Type.Record(Type.String({ maxLength: 64 }), Type.Unknown())),
  /** The fields that callers may send; all others are refused. */
  allowed: Type.Optional(
    Type.Array(Type.String({ maxLength: 64 }), { maxItems: MAX_FIELDS, uniqueItems: true }),
  ),
  /** What of the table or bucket is the caller's own. */
  owner: Type.Optional(
    Type.Union(
      [
        Type.Literal(true),
        ClosedObject({ attribute: Type.String({ minLength: 1, maxLength: 255 }) }),
        ClosedObject({ prefix: Type.String({ maxLength: 512 }) }),
      ],
      { fault: 'must be { "attribute" } of a table, or true or { "prefix" } of a bucket' },
    ),
  ),
})

/** Tells what a caller owns: items whose attribute holds the caller's `sub`, or objects whose keys begin with it below a prefix. */
type PresetOwner = { readonly attribute: string } | { readonly prefix: string }

export interface PresetBinding {
  readonly preset: PresetName
  readonly resourceId: string | null
  readonly fixed?: Readonly<Record<string, unknown>>
  readonly allowed?: readonly string[]
  readonly owner?: PresetOwner
}

/** Fields whose entries are fixed or sent one by one. */
const MAP_FIELDS: ReadonlySet<string> = new Set([
  'key',
  'item',
  'expressionAttributeNames',
  'expressionAttributeValues',
  'metadata',
])
const EXPRESSIONS = [
  'projectionExpression',
  'filterExpression',
  'keyConditionExpression',
  'conditionExpression',
  'updateExpression',
] as const

/** Fields that callers never send where an owner confines them, because both would show what is another's. */
const NEVER_WITH_OWNER = ['exclusiveStartKey', 'returnValuesOnConditionCheckFailure']

export const isMapField = (name: string): boolean => MAP_FIELDS.has(name)

export function parsePreset(input: Static<typeof PresetInput>): PresetBinding {
  const { preset: name, resourceId } = input
  if (!isPresetName(name)) throw invalid('preset.preset', unknownPreset(name))
  const preset = presetOf(name)
  if (!preset) return parseEcho(input)
  if (resourceId === undefined) {
    throw invalid('preset.resourceId', `is required: "${name}" works on a ${preset.store}`)
  }
  const owner = input.owner === undefined ? undefined : parseOwner(preset, input.owner)
  const binding: PresetBinding = {
    preset: name,
    resourceId,
    ...(input.fixed === undefined ? {} : { fixed: checkFixed(preset, input.fixed) }),
    ...(input.allowed === undefined ? {} : { allowed: checkAllowed(preset, input) }),
    ...(owner === undefined ? {} : { owner }),
  }
  if (owner) refuseWithOwner(binding)
  return binding
}

/** The fields that callers may send. A fixed one is among them only where its entries are single. */
export function allowedFields(binding: PresetBinding): string[] {
  const { preset: name, fixed = {}, allowed } = binding
  if (allowed !== undefined) return [...allowed]
  const preset = presetOf(name)
  const fields = (isOpen(binding) ? preset?.open : preset?.basic) ?? []
  const free = fields.filter((field) => isMapField(field) || !Object.hasOwn(fixed, field))
  const has = (fields: readonly string[]) =>
    fields.some((field) => free.includes(field) || Object.hasOwn(fixed, field))
  return [
    ...free,
    // Placeholders are of use only where something may name them.
    ...(EXPRESSIONS.some((field) => free.includes(field)) ? ['expressionAttributeNames'] : []),
    ...(has(EXPRESSIONS.slice(1)) ? ['expressionAttributeValues'] : []),
  ]
}

/** Whether the expression that the action needs is the caller's. A query with an owner has a condition of its own, or must be given one. */
function isOpen({ preset: name, fixed = {}, owner }: PresetBinding): boolean {
  const preset = presetOf(name)
  if (preset?.open === undefined || (owner && name === 'ddb.query')) return false
  return !EXPRESSIONS.some(
    (field) => preset.required.includes(field) && Object.hasOwn(fixed, field),
  )
}

function parseEcho(input: Static<typeof PresetInput>): PresetBinding {
  if (input.resourceId !== undefined) {
    throw invalid('preset.resourceId', 'preset "echo" takes no resource')
  }
  for (const field of ['fixed', 'allowed', 'owner'] as const) {
    if (input[field] !== undefined) {
      throw invalid(`preset.${field}`, 'has no meaning with preset "echo": leave it out')
    }
  }
  return { preset: 'echo', resourceId: null }
}

function unknownPreset(name: string): string {
  const meant = didYouMean(name, PRESET_NAMES)
  return meant === undefined
    ? `"${name}" is not a preset: there are ${PRESET_NAMES.join(', ')}`
    : `"${name}" is not a preset: did you mean "${meant}"?`
}

function checkFixed(
  preset: Preset,
  fixed: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (JSON.stringify(fixed).length > MAX_FIXED_CHARS) {
    throw invalid('preset.fixed', `is longer than ${MAX_FIXED_CHARS} characters`)
  }
  for (const [name, value] of Object.entries(fixed)) {
    const rule = preset.fields.get(name)
    if (!rule) throw invalid(`preset.fixed.${name}`, unknownField(preset, name))
    const fault = name === 'nextToken' ? 'cannot be fixed' : rule(value)
    if (fault !== undefined) throw invalid(`preset.fixed.${name}`, fault)
    if (isMapField(name) && !isJsonObject(value)) {
      throw invalid(`preset.fixed.${name}`, 'must be a JSON object')
    }
  }
  return fixed
}

function checkAllowed(preset: Preset, input: Static<typeof PresetInput>): readonly string[] {
  const { allowed = [], fixed = {} } = input
  for (const [at, name] of allowed.entries()) {
    const field = `preset.allowed[${at}]`
    if (!preset.fields.has(name)) throw invalid(field, unknownField(preset, name))
    if (Object.hasOwn(fixed, name) && !isMapField(name)) {
      throw invalid(field, `"${name}" is fixed: it cannot be allowed too`)
    }
  }
  return allowed
}

const unknownField = ({ fields }: Preset, name: string): string =>
  `"${name}" is not a field of this preset: there are ${[...fields.keys()].join(', ')}`

function parseOwner(
  { store }: Preset,
  owner: Exclude<Static<typeof PresetInput>['owner'], undefined>,
): PresetOwner {
  if (store === 'ddbTable') {
    if (owner !== true && 'attribute' in owner) return owner
    throw invalid('preset.owner', 'of a table is { "attribute": the one that holds the "sub" }')
  }
  if (owner === true) return { prefix: '' }
  if ('prefix' in owner) return { prefix: checkPrefix(owner.prefix) }
  throw invalid('preset.owner', 'of a bucket is true, or { "prefix" }')
}

/** Ends with a slash, as folders do, so that no prefix is the beginning of another. */
function checkPrefix(prefix: string): string {
  if (prefix === '') return prefix
  const folder = prefix.endsWith('/') ? prefix : `${prefix}/`
  const steps = folder.slice(0, -1).split('/')
  if (steps.every((step) => step !== '' && step !== '.' && step !== '..')) return folder
  throw invalid('preset.owner.prefix', 'must be folder names joined by "/", without "." and ".."')
}

function refuseWithOwner({ fixed = {}, allowed = [] }: PresetBinding): void {
  for (const field of NEVER_WITH_OWNER) {
    if (allowed.includes(field) || Object.hasOwn(fixed, field)) {
      throw invalid('preset.owner', `cannot be kept with "${field}": it shows what is another’s`)
    }
  }
}

import { validationError } from '#runtime/tables/validation-error.ts'

/** What one parameter of a request may be. */
type ParameterRule =
  | {
      readonly type: 'String'
      readonly oneOf?: readonly string[]
      readonly pattern?: string
      readonly lengths?: readonly [number, number]
    }
  | { readonly type: 'Integer'; readonly from: number; readonly to?: number }
  | { readonly type: 'Boolean' }
  | { readonly type: 'Map'; readonly required?: true; readonly of?: 'String' }

export type ParameterRules = Readonly<Record<string, ParameterRule>>
export type Body = Readonly<Record<string, unknown>>

const MOST_FAULTS = 10

/** DynamoDB's older parameters; expressions say the same. */
const LEGACY: ReadonlySet<string> = new Set([
  'AttributesToGet',
  'AttributeUpdates',
  'ConditionalOperator',
  'Expected',
  'KeyConditions',
  'QueryFilter',
  'ScanFilter',
])

/** Refuses what a parameter's type or its rule does not allow; reports as many faults as DynamoDB does at once. */
export function checkParameters(body: Body, rules: ParameterRules): void {
  const listed = entriesOf(rules)
  for (const [name, rule] of listed) checkType(parameter(body, name), rule)
  checkLegacy(body)
  const faults: string[] = []
  for (const [name, rule] of listed) faults.push(...faultsOf(name, parameter(body, name), rule))
  if (faults.length === 0) return
  const reported = faults.slice(0, MOST_FAULTS)
  throw validationError(
    `${reported.length} validation error${reported.length > 1 ? 's' : ''} detected: ${reported.join('; ')}`,
  )
}

function checkLegacy(body: Body): void {
  if (!Object.keys(body).some((name) => LEGACY.has(name))) return
  const sent = [...LEGACY].filter((name) => parameter(body, name) !== undefined)
  if (sent.length === 0) return
  throw validationError(`Legacy parameters are not supported, use expressions: ${sent.join(', ')}`)
}

const NONE: readonly string[] = []
/** The rules of each action, which are constants, as a list. */
const LISTED = new WeakMap<ParameterRules, readonly [string, ParameterRule][]>()

function entriesOf(rules: ParameterRules): readonly [string, ParameterRule][] {
  const known = LISTED.get(rules)
  if (known !== undefined) return known
  const listed = Object.entries(rules)
  LISTED.set(rules, listed)
  return listed
}

/** What is null counts as left out. */
export function parameter(body: Body, name: string): unknown {
  const value = Object.hasOwn(body, name) ? body[name] : undefined
  return value === null ? undefined : value
}

export function text(body: Body, name: string): string | undefined {
  const value = parameter(body, name)
  return typeof value === 'string' ? value : undefined
}

export function integer(body: Body, name: string): number | undefined {
  const value = parameter(body, name)
  return typeof value === 'number' ? Math.floor(value) : undefined
}

export const flag = (body: Body, name: string): boolean | undefined => {
  const value = parameter(body, name)
  return typeof value === 'boolean' ? value : undefined
}

export function record(body: Body, name: string): Readonly<Record<string, unknown>> | undefined {
  const value = parameter(body, name)
  return typeof value === 'object' ? { ...value } : undefined
}

function checkType(value: unknown, rule: ParameterRule): void {
  if (value === undefined) return
  if (rule.type === 'Map') checkMap(value, rule.of)
  else if (typeof value !== TYPES[rule.type]) throw validationError(typeFault(value, rule.type))
}

const TYPES = { String: 'string', Integer: 'number', Boolean: 'boolean' } as const

function checkMap(value: unknown, of: 'String' | undefined): void {
  if (typeof value !== 'object' || value === null) throw validationError('Unexpected field type')
  if (Array.isArray(value)) {
    const member =
      of === 'String' ? 'java.lang.String' : 'com.amazonaws.dynamodb.v20120810.AttributeValue'
    throw validationError(`Unrecognized collection type java.util.Map<java.lang.String, ${member}>`)
  }
  if (of !== 'String') return
  for (const each of Object.values(value)) {
    if (typeof each !== 'string') throw validationError(typeFault(each, 'String'))
  }
}

function typeFault(value: unknown, type: string): string {
  if (Array.isArray(value)) return `Unrecognized collection type class java.lang.${type}`
  if (typeof value === 'object') return 'Start of structure or map found where not expected'
  if (type === 'Boolean' && typeof value === 'string') {
    return 'Unexpected token received from parser'
  }
  return `${tokenOf(value)} cannot be converted to ${type}`
}

function tokenOf(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'TRUE_VALUE' : 'FALSE_VALUE'
  if (typeof value === 'string') return 'STRING_VALUE'
  return Number.isInteger(value) ? 'NUMBER_VALUE' : 'DECIMAL_VALUE'
}

function faultsOf(name: string, value: unknown, rule: ParameterRule): readonly string[] {
  if (value === undefined && !(rule.type === 'Map' && rule.required)) return NONE
  const fault = (constraint: string) =>
    `Value ${shown(value)} at '${lowerFirst(name)}' ` +
    `failed to satisfy constraint: Member must ${constraint}`
  if (value === undefined) return [fault('not be null')]
  if (rule.type === 'String' && typeof value === 'string') {
    return textConstraints(value, rule).map(fault)
  }
  return rule.type === 'Integer'
    ? numberConstraints(Math.floor(Number(value)), rule).map(fault)
    : NONE
}

function textConstraints(
  value: string,
  { oneOf, pattern, lengths }: Extract<ParameterRule, { type: 'String' }>,
): string[] {
  const found: string[] = []
  if (oneOf !== undefined && !oneOf.includes(value)) {
    found.push(`satisfy enum value set: [${oneOf.join(', ')}]`)
  }
  if (pattern !== undefined && !new RegExp(`^${pattern}$`).test(value)) {
    found.push(`satisfy regular expression pattern: ${pattern}`)
  }
  const [least, most] = lengths ?? [0, Number.POSITIVE_INFINITY]
  if (value.length < least) found.push(`have length greater than or equal to ${least}`)
  if (value.length > most) found.push(`have length less than or equal to ${most}`)
  return found
}

function numberConstraints(
  value: number,
  { from, to }: Extract<ParameterRule, { type: 'Integer' }>,
): string[] {
  if (value < from) return [`have value greater than or equal to ${from}`]
  return to !== undefined && value > to ? [`have value less than or equal to ${to}`] : []
}

const shown = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? `'${value}'` : 'null'

const lowerFirst = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)

import { javaText } from './java-text.ts'
import type { Body } from './read-shape.ts'
import type { Fields, Rules, Shape } from './shape.ts'
import { isTableArn } from './table-arn.ts'
import { validationFault } from './wire-error.ts'

const MOST_FAULTS = 10
const TABLE_NAME_LENGTH = { min: 3, max: 255 }

/** Refuses a request by what DynamoDB checks of each field alone; up to ten faults in one text. */
export function checkRules(body: Body, fields: Fields): void {
  for (const [name, shape] of Object.entries(fields)) {
    if (shape.required) checkRequired(name, body[name])
  }
  const faults: string[] = []
  checkFields(body, fields, { parent: '', faults })
  if (faults.length === 0) return
  const found = faults.slice(0, MOST_FAULTS)
  const opening = `${found.length} validation error${found.length > 1 ? 's' : ''} detected: `
  throw validationFault(opening + found.join('; '))
}

/** Only names of tables are required in this way. */
function checkRequired(name: string, given: unknown): void {
  if (typeof given !== 'string') {
    throw validationFault(`The parameter '${name}' is required but was not present in the request`)
  }
  const { min, max } = TABLE_NAME_LENGTH
  if (given.length >= min && given.length <= max) return
  throw validationFault(
    `${name} must be at least ${min} characters long and at most ${max} characters long`,
  )
}

interface Place {
  /** With its closing dot, or nothing at the top. */
  readonly parent: string
  readonly faults: string[]
}

function checkFields(body: Body, fields: Fields, place: Place): void {
  for (const [name, shape] of Object.entries(fields)) check(name, body[name], shape, place)
}

function check(name: string, given: unknown, shape: Shape, { parent, faults }: Place): void {
  const path = parent + lowerFirst(name)
  const report = (constraint: string): void => {
    const words = shape.javaText ? javaText(given) : textOf(given)
    const shown = given === undefined || given === null ? 'null' : `'${words}'`
    faults.push(`Value ${shown} at '${path}' failed to satisfy constraint: ${constraint}`)
  }
  if (given === undefined || given === null) {
    if (shape.notNull) report('Member must not be null')
    return
  }
  if (shape.orArn && isTableArn(given)) return
  for (const constraint of brokenRules(given, shape)) report(constraint)
  checkMembers(given, shape, { parent: path, faults })
}

function checkMembers(given: unknown, shape: Shape, { parent, faults }: Place): void {
  if (shape.kind === 'List' && Array.isArray(given)) {
    for (const [at, each] of given.entries()) {
      check('member', each, shape.member, { parent: `${parent}.${at + 1}.`, faults })
    }
  } else if (shape.kind === 'Map' && isRecord(given)) {
    for (const [name, each] of Object.entries(given)) {
      check('member', each, shape.member, { parent: `${parent}.${name}.`, faults })
    }
  } else if (shape.kind === 'Struct' && isRecord(given)) {
    checkFields(given, shape.fields, { parent: `${parent}.`, faults })
  }
}

function* brokenRules(given: unknown, rules: Rules): Generator<string> {
  if (rules.oneOf !== undefined && !rules.oneOf.includes(String(given))) {
    yield `Member must satisfy enum value set: [${rules.oneOf.join(', ')}]`
  }
  yield* brokenBounds(given, rules)
  if (!isRecord(given)) return
  const { keys, values } = rules
  if (keys !== undefined) {
    const words = `Map keys must satisfy constraint: [${mapBounds(keys)}, ${patternWords(keys.pattern)}]`
    for (const key of Object.keys(given)) if (isBroken(key, keys)) yield words
  }
  if (values !== undefined) {
    const words = `Map value must satisfy constraint: [${mapBounds(values)}]`
    for (const each of Object.values(given)) if (isBroken(each, values)) yield words
  }
}

const isBroken = (given: unknown, rules: Rules): boolean =>
  !(rules.orArn && isTableArn(given)) && [...brokenBounds(given, rules)].length > 0

function* brokenBounds(
  given: unknown,
  { pattern, minLength, maxLength, ...bounds }: Rules,
): Generator<string> {
  if (pattern !== undefined && !new RegExp(`^${pattern}$`).test(String(given))) {
    yield patternWords(pattern)
  }
  if (minLength !== undefined && lengthOf(given) < minLength) {
    yield `Member must have length greater than or equal to ${minLength}`
  }
  if (maxLength !== undefined && lengthOf(given) > maxLength) {
    yield `Member must have length less than or equal to ${maxLength}`
  }
  yield* brokenLimits(given, bounds)
}

function* brokenLimits(given: unknown, { min, max }: Rules): Generator<string> {
  if (min !== undefined && Number(given) < min) {
    yield `Member must have value greater than or equal to ${min}`
  }
  if (max !== undefined && Number(given) > max) {
    yield `Member must have value less than or equal to ${max}`
  }
}

const mapBounds = ({ minLength = 0, maxLength = 0 }: Rules): string =>
  `Member must have length less than or equal to ${maxLength}, ` +
  `Member must have length greater than or equal to ${minLength}`

const patternWords = (pattern: string): string =>
  `Member must satisfy regular expression pattern: ${pattern}`

function lengthOf(given: unknown): number {
  if (typeof given === 'string' || Array.isArray(given)) return given.length
  return isRecord(given) ? Object.keys(given).length : 0
}

function textOf(given: unknown): string {
  if (given === undefined || given === null) return 'null'
  if (Array.isArray(given)) return `[${given.map(textOf).join(', ')}]`
  return typeof given === 'string' ? given : JSON.stringify(given)
}

const isRecord = (given: unknown): given is Body =>
  typeof given === 'object' && given !== null && !Array.isArray(given)

const lowerFirst = (name: string): string => name.slice(0, 1).toLowerCase() + name.slice(1)

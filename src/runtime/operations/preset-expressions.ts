import { invalid } from '#base/app-error.ts'
import { isJsonObject } from '#base/json-object.ts'
import { ExpressionError } from '#runtime/tables/expressions/expression-error.ts'
import { parseCondition } from '#runtime/tables/expressions/parse-condition.ts'
import { parseProjection } from '#runtime/tables/expressions/parse-projection.ts'
import { parseUpdate } from '#runtime/tables/expressions/parse-update.ts'
import { tokenize } from '#runtime/tables/expressions/tokens.ts'

import { type PresetBinding, allowedFields } from './preset-binding.ts'

const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  projectionExpression: parseProjection,
  filterExpression: parseCondition,
  keyConditionExpression: parseCondition,
  conditionExpression: parseCondition,
  updateExpression: parseUpdate,
}

/** What defines the placeholders of expressions: `#name`, `:value`. */
const PLACEHOLDER_MAPS = {
  '#': 'expressionAttributeNames',
  ':': 'expressionAttributeValues',
} as const

/** Refuses what is fixed of expressions and their placeholders if every call would fail by it. */
export function checkExpressions(binding: PresetBinding): void {
  const { fixed = {} } = binding
  const allowed = allowedFields(binding)
  const used = new Set<string>()
  for (const [field, parse] of Object.entries(PARSERS)) {
    const text = fixed[field]
    if (typeof text !== 'string') continue
    const at = `preset.fixed.${field}`
    checkSyntax(at, text, parse)
    for (const placeholder of placeholdersOf(text)) {
      used.add(placeholder)
      const map = placeholder.startsWith('#') ? PLACEHOLDER_MAPS['#'] : PLACEHOLDER_MAPS[':']
      if (!isDefined(fixed[map], placeholder) && !allowed.includes(map)) {
        throw invalid(at, undefinedPlaceholder(placeholder, map))
      }
    }
  }
  if (!allowed.some((field) => Object.hasOwn(PARSERS, field))) refuseUnused(fixed, used)
}

function checkSyntax(at: string, text: string, parse: (text: string) => unknown): void {
  try {
    parse(text)
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    throw invalid(at, `is not valid: ${error.message}`)
  }
}

const placeholdersOf = (text: string): string[] =>
  tokenize(text, new Set())
    .filter(({ kind }) => kind === 'name' || kind === 'value')
    .map(({ text: placeholder }) => placeholder)

const isDefined = (map: unknown, placeholder: string): boolean =>
  isJsonObject(map) && Object.hasOwn(map, placeholder)

const undefinedPlaceholder = (placeholder: string, map: string): string =>
  `uses "${placeholder}", which nothing defines: add it to "${map}" in "fixed" or, if callers may decide it, name "${map}" in "allowed"`

/** Where callers write no expression, a placeholder that the fixed ones leave has no use. */
function refuseUnused(fixed: Readonly<Record<string, unknown>>, used: ReadonlySet<string>): void {
  for (const map of Object.values(PLACEHOLDER_MAPS)) {
    const given = fixed[map]
    const unused = Object.keys(isJsonObject(given) ? given : {}).find((key) => !used.has(key))
    if (unused !== undefined) {
      throw invalid(`preset.fixed.${map}`, `"${unused}" is in no expression: leave it out`)
    }
  }
}

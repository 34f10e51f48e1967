import type { ParsedDefinition } from './parse.ts'
import type { SiteItem } from './section.ts'

/**
 * The definition as it was sent, without the values of what it or the site, which has `known`, calls a secret. `parsed` is
 * what it was read as.
 */
export function withoutSecrets(
  value: object,
  parsed: ParsedDefinition,
  known: readonly SiteItem[],
): object {
  const variables = parsed.get('envVars')
  if (variables === undefined) return value
  const sent: unknown = 'envVars' in value ? value.envVars : undefined
  if (!Array.isArray(sent)) return value
  const kept = new Set(known.filter(isSecret).map(({ name }) => name))
  const secret = new Set(
    variables.filter(({ item }) => isSecret(item) || kept.has(item.name)).map(({ index }) => index),
  )
  return {
    ...value,
    envVars: sent.map((variable: unknown, index) =>
      secret.has(index) ? withoutValue(variable) : variable,
    ),
  }
}

const isSecret = ({ canonical }: SiteItem): boolean => canonical['secret'] === true

function withoutValue(variable: unknown): unknown {
  if (typeof variable !== 'object' || variable === null) return variable
  return Object.fromEntries(Object.entries(variable).filter(([name]) => name !== 'value'))
}

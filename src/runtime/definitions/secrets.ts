import type { ParsedDefinition } from './parse.ts'

/** The definition as it was sent, without the values of secrets. `parsed` is what it was read as. */
export function withoutSecrets(value: object, parsed: ParsedDefinition): object {
  const variables = parsed.get('envVars')
  if (variables === undefined) return value
  const sent: unknown = 'envVars' in value ? value.envVars : undefined
  if (!Array.isArray(sent)) return value
  const secret = new Set(
    variables.filter(({ item }) => item.canonical['secret'] === true).map(({ at }) => at),
  )
  return {
    ...value,
    envVars: sent.map((variable: unknown, at) =>
      secret.has(at) ? withoutValue(variable) : variable,
    ),
  }
}

function withoutValue(variable: unknown): unknown {
  if (typeof variable !== 'object' || variable === null) return variable
  return Object.fromEntries(Object.entries(variable).filter(([name]) => name !== 'value'))
}

import { AuthView } from '#identity/pools/auth-change.ts'

import { authText } from './auth-show.ts'
import type { Arguments, Command } from './command.ts'
import { UsageError } from './faults.ts'
import { expectShape } from './shape.ts'
import { defined } from './site-options.ts'
import { sitePath } from './site-show.ts'
import { oneOf } from './token.ts'

const REQUIREMENTS = {
  upper: 'requireUppercase',
  lower: 'requireLowercase',
  digit: 'requireNumbers',
  symbol: 'requireSymbols',
} as const

export const authSet: Command = {
  name: 'auth set',
  summary: 'Change what is named of one pool; the rest stays, a list of URIs is replaced',
  usage:
    'DOMAIN --pool admin|data [--redirect-uri URI]… [--logout-uri URI]… [--no-redirect-uris] [--no-logout-uris] [--client default|link] [--cognito-api on|off] [--min-length N] [--require upper,lower,digit,symbol|none] [--sign-up on|off] [--link-verified on|off]',
  options: {
    pool: { type: 'string' },
    client: { type: 'string' },
    'redirect-uri': { type: 'string', multiple: true },
    'logout-uri': { type: 'string', multiple: true },
    'no-redirect-uris': { type: 'boolean' },
    'no-logout-uris': { type: 'boolean' },
    'cognito-api': { type: 'string' },
    'min-length': { type: 'string' },
    require: { type: 'string' },
    'sign-up': { type: 'string' },
    'link-verified': { type: 'string' },
  },
  maxPositionals: 1,
  async run({ args, service }) {
    const path = sitePath(args.word(0, 'DOMAIN'), '/auth')
    const pool = oneOf('pool', args.required('pool'), ['admin', 'data']) ?? ''
    const change = changeOf(args)
    if (Object.keys(change).length === 0) throw new UsageError('say what to change')
    const answer = await service.portal('PATCH', path, { body: { [pool]: change } })
    const view = expectShape(AuthView, answer)
    return { json: view, text: authText(view) }
  },
}

function changeOf(args: Arguments): Record<string, unknown> {
  const client = oneOf('client', args.text('client'), ['default', 'link']) ?? 'default'
  const clientChange = defined({
    redirectUris: urisOf(args, 'redirect-uri'),
    logoutUris: urisOf(args, 'logout-uri'),
    cognitoApi: switchOf(args, 'cognito-api'),
  })
  const passwordPolicy = defined({ minimumLength: lengthOf(args), ...requirementsOf(args) })
  return defined({
    passwordPolicy: orNothing(passwordPolicy),
    selfSignUp: switchOf(args, 'sign-up'),
    linkVerifiedAddresses: switchOf(args, 'link-verified'),
    clients: orNothing(clientChange) && { [client]: clientChange },
  })
}

function urisOf(args: Arguments, option: 'redirect-uri' | 'logout-uri') {
  if (!args.flag(`no-${option}s`)) return args.list(option)
  if (args.list(option) === undefined) return []
  throw new UsageError(`--${option} and --no-${option}s exclude each other`)
}

function switchOf(args: Arguments, option: string): boolean | undefined {
  const value = oneOf(option, args.text(option), ['on', 'off'])
  return value === undefined ? undefined : value === 'on'
}

function lengthOf(args: Arguments): number | undefined {
  const text = args.text('min-length')
  if (text === undefined || /^\d{1,4}$/.test(text)) return text === undefined ? text : Number(text)
  throw new UsageError(`--min-length is a whole number, not "${text}"`)
}

/** What is not named is not required any more. */
function requirementsOf(args: Arguments): Record<string, boolean> {
  const text = args.text('require')
  if (text === undefined) return {}
  const named = text === 'none' ? [] : text.split(',')
  const unknown = named.find((word) => !Object.hasOwn(REQUIREMENTS, word))
  if (unknown !== undefined) {
    throw new UsageError(`--require takes upper, lower, digit, symbol or none, not "${unknown}"`)
  }
  return Object.fromEntries(
    Object.entries(REQUIREMENTS).map(([word, field]) => [field, named.includes(word)]),
  )
}

const orNothing = (fields: Record<string, unknown>): Record<string, unknown> | undefined =>
  Object.keys(fields).length === 0 ? undefined : fields

import { AuthView } from '#identity/pools/auth-change.ts'

import { authText } from './auth-show.ts'
import {
  type Arguments,
  type CliCommand,
  choiceOption,
  requiredChoiceOption,
  flagOption,
  listOption,
  textOption,
} from './command.ts'
import { UsageError } from './errors.ts'
import { sitePath } from './service-client.ts'
import { defined } from './site-options.ts'

const REQUIREMENTS = {
  upper: 'requireUppercase',
  lower: 'requireLowercase',
  digit: 'requireNumbers',
  symbol: 'requireSymbols',
} as const

export const authSet: CliCommand = {
  name: 'auth set',
  summary:
    'Change sign-in settings of one pool; options that are left out change nothing, a list of URIs is replaced',
  words: ['DOMAIN'],
  options: [
    requiredChoiceOption('--pool <pool>', ['admin', 'data'], 'admin or data'),
    choiceOption('--client <client>', ['default', 'link'], 'default, or link for linking accounts'),
    listOption('--redirect-uri <uri>', 'where a sign-in may return to'),
    listOption('--logout-uri <uri>', 'where a sign-out may return to'),
    flagOption('--no-redirect-uris', 'remove all redirect URIs'),
    flagOption('--no-logout-uris', 'remove all logout URIs'),
    switchOption('--cognito-api', 'answers programs written for Amazon Cognito'),
    choiceOption('--access-token-format <format>', ['cognito', 'rfc9068'], 'cognito, or rfc9068'),
    textOption('--min-length <number>', 'of passwords'),
    textOption('--require <kinds>', 'of upper,lower,digit,symbol in passwords, or none'),
    textOption('--session-idle-minutes <number>', 'an idle sign-in ends after so long'),
    textOption('--max-sessions <number>', 'sign-ins of one account, the oldest of which end'),
    switchOption('--require-second-factor', 'a password takes an authenticator app, too'),
    listOption(
      '--scope <name=words>',
      'what applications may ask for, and the words that people see',
    ),
    flagOption('--no-scopes', 'remove all scopes except the standard ones'),
    switchOption('--sign-up', 'people may sign up by themselves'),
    switchOption('--link-verified', 'accounts of one verified address become one'),
  ],
  async run({ args, service }) {
    const path = sitePath(args.word, '/auth')
    const change = changeOf(args)
    if (Object.keys(change).length === 0) throw new UsageError('say what to change')
    const view = await service.portalAs(AuthView, 'PATCH', path, {
      body: { [args.required('pool')]: change },
    })
    return { json: view, text: authText(view) }
  },
}

function changeOf(args: Arguments): Record<string, unknown> {
  const client = args.text('client') ?? 'default'
  const clientChange = defined({
    redirectUris: urisOf(args, 'redirect'),
    logoutUris: urisOf(args, 'logout'),
    cognitoApi: switchOf(args, 'cognitoApi'),
    accessTokenFormat: args.text('accessTokenFormat'),
  })
  const passwordPolicy = defined({
    minimumLength: numberOf(args, 'minLength'),
    ...requirementsOf(args),
  })
  return defined({
    passwordPolicy: orNothing(passwordPolicy),
    sessionIdleMinutes: numberOf(args, 'sessionIdleMinutes'),
    maxSessions: numberOf(args, 'maxSessions'),
    requireSecondFactor: switchOf(args, 'requireSecondFactor'),
    scopes: scopesOf(args),
    selfSignUp: switchOf(args, 'signUp'),
    linkVerifiedAddresses: switchOf(args, 'linkVerified'),
    clients: orNothing(clientChange) && { [client]: clientChange },
  })
}

function urisOf(args: Arguments, kind: 'redirect' | 'logout') {
  const uris = args.list(`${kind}Uri`)
  // Commander takes `--no-x` for the opposite of an `--x` that is on by default.
  if (args.flag(`${kind}Uris`)) return uris
  if (uris === undefined) return []
  throw new UsageError(`--${kind}-uri and --no-${kind}-uris exclude each other`)
}

/** `orders:read=See your orders`. */
function scopesOf(args: Arguments): Record<string, string> | undefined {
  const given = args.list('scope')
  if (!args.flag('scopes')) {
    if (given === undefined) return {}
    throw new UsageError('--scope and --no-scopes exclude each other')
  }
  return given && Object.fromEntries(given.map(scopeOf))
}

function scopeOf(text: string): [string, string] {
  const at = text.indexOf('=')
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
  throw new UsageError(
    `--scope is NAME=WORDS, such as "orders:read=See your orders", not "${text}"`,
  )
}

function switchOption(flag: string, description: string) {
  return choiceOption(`${flag} <on|off>`, ['on', 'off'], description)
}

function switchOf(args: Arguments, option: string): boolean | undefined {
  const value = args.text(option)
  return value === undefined ? undefined : value === 'on'
}

const NUMBERS = {
  minLength: '--min-length',
  sessionIdleMinutes: '--session-idle-minutes',
  maxSessions: '--max-sessions',
} as const

function numberOf(args: Arguments, option: keyof typeof NUMBERS): number | undefined {
  const text = args.text(option)
  if (text === undefined || /^\d{1,5}$/.test(text)) return text === undefined ? text : Number(text)
  throw new UsageError(`${NUMBERS[option]} is a whole number, not "${text}"`)
}

/** Requires the kinds that are named and no longer requires the others. */
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

import { AuthView, type PoolView } from '#identity/pools/auth-change.ts'

import { columns, printable } from './columns.ts'
import type { CliCommand } from './command.ts'
import { sitePath } from './service-client.ts'

export const authShow: CliCommand = {
  name: 'auth show',
  summary: 'Show the sign-in settings of a site’s two pools',
  words: ['DOMAIN'],
  options: [],
  async run({ args, service }) {
    const path = sitePath(args.word, '/auth')
    const view = await service.portalAs(AuthView, 'GET', path)
    return { json: view, text: authText(view) }
  },
}

export const authText = ({ admin, data }: AuthView): string =>
  columns([...rowsOf('admin', admin), ['', ''], ...rowsOf('data', data)])

function rowsOf(name: string, pool: PoolView): string[][] {
  const { default: own, link } = pool.clients
  return [
    [`${name} pool`, pool.userPoolId],
    ['issuer', pool.issuer],
    ['password', passwordWords(pool.passwordPolicy)],
    ['self sign-up', onOff(pool.selfSignUp)],
    ['link verified addresses', onOff(pool.linkVerifiedAddresses)],
    ['sessions', `${pool.maxSessions} an account, ended ${idleWords(pool.sessionIdleMinutes)}`],
    ['second factor', pool.requireSecondFactor ? 'required' : 'up to each account'],
    ...Object.entries(pool.scopes).map(([scope, words]) => [`scope ${scope}`, printable(words)]),
    ['client', own.clientId],
    ...own.redirectUris.map((uri) => ['  returns to', uri]),
    ...own.logoutUris.map((uri) => ['  signs out to', uri]),
    ['  Cognito API', onOff(own.cognitoApi)],
    ['  access tokens', own.accessTokenFormat],
    ...(link === undefined
      ? []
      : [
          ['client for linking', link.clientId],
          ...link.redirectUris.map((uri) => ['  returns to', uri]),
        ]),
  ]
}

function passwordWords(policy: PoolView['passwordPolicy']): string {
  const required = [
    ['upper case', policy.requireUppercase],
    ['lower case', policy.requireLowercase],
    ['digit', policy.requireNumbers],
    ['symbol', policy.requireSymbols],
  ]
  const words = required.filter(([, needed]) => needed).map(([word]) => word)
  return [`${policy.minimumLength} characters or more`, ...words].join(', ')
}

const idleWords = (minutes: number): string =>
  minutes % 60 === 0 ? `after ${minutes / 60} h unused` : `after ${minutes} min unused`

const onOff = (value: boolean): string => (value ? 'on' : 'off')

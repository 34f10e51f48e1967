import { type Static, Type } from '@sinclair/typebox'

import { changeAdmin, listAdmins, showAdmin } from './admin-users.ts'
import { requireAgreement } from './agreement.ts'
import { columns, printable } from './columns.ts'
import {
  type Arguments,
  type CliCommand,
  POOL_OPTION,
  YES_OPTIONS,
  choiceOption,
  textOption,
} from './command.ts'
import { CommandError, UsageError } from './errors.ts'
import { itemPage } from './list-command.ts'
import { type ServiceClient, sitePath } from './service-client.ts'

const Visitor = Type.Object({
  sub: Type.String(),
  username: Type.String(),
  emailVerified: Type.Boolean(),
  status: Type.String(),
  origin: Type.String(),
  createdAt: Type.String(),
  updatedAt: Type.String(),
})
type Visitor = Static<typeof Visitor>

const VisitorPage = itemPage(Visitor)

const VisitorDetail = Type.Composite([
  Visitor,
  Type.Object({
    groups: Type.Array(Type.String()),
    signInMethods: Type.Array(Type.String()),
    secondFactor: Type.Boolean(),
    lastSeenAt: Type.Union([Type.String(), Type.Null()]),
  }),
])

/** What can be done to one visitor, and what is said of it then. */
const CHANGES = {
  disable: { method: 'POST', path: '/disable', said: 'is disabled and signed out' },
  enable: { method: 'POST', path: '/enable', said: 'can sign in again' },
  signOut: { method: 'POST', path: '/sign-out', said: 'is signed out everywhere' },
  delete: { method: 'DELETE', path: '', said: 'is deleted' },
} as const
type Change = keyof typeof CHANGES
const CHANGE_NAMES = ['disable', 'enable', 'signOut', 'delete'] as const

export const users: CliCommand = {
  name: 'users',
  summary:
    'List the visitors of a site, or its admins; show, disable, enable, sign out or delete one',
  words: ['DOMAIN'],
  options: [
    POOL_OPTION,
    textOption('--search <text>', 'those whose address begins with it'),
    choiceOption(
      '--status <status>',
      ['ACTIVE', 'DISABLED', 'DELETING'],
      'ACTIVE, DISABLED or DELETING',
    ),
    textOption('--show <email>', 'all about this one'),
    textOption('--disable <email>', 'block sign-ins to the account, and end every session'),
    textOption('--enable <email>', 'allow sign-ins to the account again'),
    textOption('--sign-out <email>', 'end every sign-in to the account'),
    textOption('--delete <email>', 'delete the account and everything that is kept for it'),
    ...YES_OPTIONS,
  ],
  async run({ args, service }) {
    const named = CHANGE_NAMES.filter((name) => args.text(name) !== undefined)
    const shown = args.text('show')
    const [change] = named
    if (named.length + (shown === undefined ? 0 : 1) > 1) {
      throw new UsageError(
        '--show, --disable, --enable, --sign-out and --delete exclude each other',
      )
    }
    if (change === 'delete') {
      await requireAgreement(args, `this deletes the account of "${args.required(change)}"`)
    }
    const of = { service, site: args.word }
    if (args.text('pool') === 'admin') {
      if (change !== undefined) return changeAdmin(of, change, args.required(change))
      return shown === undefined ? listAdmins(of, args) : showAdmin(of, shown)
    }
    if (change !== undefined) return changeOne(service, args.word, change, args.required(change))
    return shown === undefined ? listAll(service, args) : showOne(service, args.word, shown)
  },
}

async function showOne(service: ServiceClient, site: string, email: string) {
  const { sub } = await visitorOf(service, site, email)
  const visitor = await service.portalAs(VisitorDetail, 'GET', `${sitePath(site, '/users')}/${sub}`)
  return { json: visitor, text: detailText(visitor) }
}

async function listAll(service: ServiceClient, args: Arguments) {
  const q = args.text('search')
  const status = args.text('status')
  const filters = { ...(q !== undefined && { q }), ...(status !== undefined && { status }) }
  const items = await service.portalItems(VisitorPage, sitePath(args.word, '/users'), { filters })
  const rows = items.map(({ username, status: state, origin, createdAt }) =>
    [username, state, origin, `since ${createdAt}`].map(printable),
  )
  return {
    json: { items, nextToken: null },
    text: rows.length === 0 ? 'No such visitor.' : columns(rows),
  }
}

async function changeOne(service: ServiceClient, site: string, name: Change, email: string) {
  const { method, path, said } = CHANGES[name]
  const { sub, username } = await visitorOf(service, site, email)
  await service.portal(method, `${sitePath(site, '/users')}/${sub}${path}`)
  return { json: { sub, username, done: name }, text: `${printable(username)} ${said}.` }
}

async function visitorOf(service: ServiceClient, site: string, email: string): Promise<Visitor> {
  const query = new URLSearchParams({ email }).toString()
  const { items } = await service.portalAs(
    VisitorPage,
    'GET',
    `${sitePath(site, '/users')}?${query}`,
  )
  const [visitor] = items
  if (visitor) return visitor
  throw new CommandError(
    `No visitor of the site has the address "${email}": croft users ${site} lists them, and with --pool admin its admins`,
  )
}

function detailText(visitor: Static<typeof VisitorDetail>): string {
  const { username, sub, status, emailVerified, origin, groups, signInMethods } = visitor
  const rows = [
    ['address', `${username}${emailVerified ? '' : ' (not verified)'}`],
    ['sub', sub],
    ['status', status],
    ['made by', origin],
    ['since', visitor.createdAt],
    ['last seen', visitor.lastSeenAt ?? 'not signed in'],
    ['signs in with', signInMethods.join(', ') || 'nothing yet'],
    ['second factor', visitor.secondFactor ? 'an authenticator app' : 'none'],
    ['groups', groups.join(', ') || 'none'],
  ]
  return columns(rows.map((row) => row.map(printable)))
}

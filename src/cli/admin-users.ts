import { AdminUser } from '#identity/admin-users/model.ts'

import { columns, printable } from './columns.ts'
import type { Arguments, CommandResult } from './command.ts'
import { CommandError, UsageError } from './errors.ts'
import { itemPage } from './list-command.ts'
import { type ServiceClient, sitePath } from './service-client.ts'

const AdminPage = itemPage(AdminUser)

/** An admin cannot be disabled: only a deletion or another role takes the rights away. */
const CHANGES = {
  signOut: { method: 'DELETE', path: '/sessions', said: 'is signed out everywhere' },
  delete: { method: 'DELETE', path: '', said: 'is deleted' },
} as const

interface SiteAdmins {
  readonly service: ServiceClient
  readonly site: string
}

/** The admins of a site, by address. */
export async function listAdmins(
  { service, site }: SiteAdmins,
  args: Arguments,
): Promise<CommandResult> {
  if (args.text('status') !== undefined) throw new UsageError('--status is for visitors')
  const q = args.text('search')
  const filters = q === undefined ? {} : { q }
  const items = await service.portalItems(AdminPage, adminsPath(site), { filters })
  const rows = items.map(({ email, status, role, externalEmail }) =>
    [email, status, role, externalEmail ?? ''].map(printable),
  )
  return {
    json: { items, nextToken: null },
    text: rows.length === 0 ? 'No such admin.' : columns(rows),
  }
}

export async function showAdmin(of: SiteAdmins, email: string): Promise<CommandResult> {
  const admin = await adminOf(of, email)
  const rows = [
    ['address', admin.email],
    ['external address', admin.externalEmail ?? 'none'],
    ['id', admin.userId],
    ['status', admin.status],
    ['role', admin.role],
  ]
  return { json: admin, text: columns(rows.map((row) => row.map(printable))) }
}

export async function changeAdmin(
  of: SiteAdmins,
  name: string,
  email: string,
): Promise<CommandResult> {
  if (name !== 'signOut' && name !== 'delete') {
    throw new UsageError(
      `an admin is not disabled or enabled: --sign-out ends the sign-ins of "${email}", and --delete the account`,
    )
  }
  const { method, path, said } = CHANGES[name]
  const { userId, email: address } = await adminOf(of, email)
  await of.service.portal(method, `${adminsPath(of.site)}/${userId}${path}`)
  return { json: { userId, email: address, done: name }, text: `${printable(address)} ${said}.` }
}

/** The one whose address that is, or else whose external address. */
async function adminOf({ service, site }: SiteAdmins, email: string): Promise<AdminUser> {
  const query = new URLSearchParams({ email }).toString()
  const { items } = await service.portalAs(AdminPage, 'GET', `${adminsPath(site)}?${query}`)
  const [own] = items.filter((one) => one.email === email.toLowerCase())
  const [admin] = own === undefined ? items : [own]
  if (admin && (own !== undefined || items.length === 1)) return admin
  throw new CommandError(
    items.length === 0
      ? `No admin of the site has the address "${email}": croft users ${site} --pool admin lists them`
      : `"${email}" is the external address of several admins: name the own address of one`,
  )
}

const adminsPath = (site: string): string => sitePath(site, '/admin-users')

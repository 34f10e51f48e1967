import { hasCode } from '#base/error-code.ts'
import { SetupError } from '#config/setup-error.ts'

import type { SqlRunner } from './client.ts'

/** The role that the service takes when it connects as one that bypasses row-level security. */
export const APP_ROLE = 'croft_app'

/** Postgres codes for "someone else did it at the same moment". */
const LOST_RACE = ['42710', '23505', 'XX000']

/** The role for the service's connections; undefined to stay who it is. */
export async function selectAppRole(sql: SqlRunner): Promise<string | undefined> {
  return (await currentRole(sql)).bypasses ? APP_ROLE : undefined
}

/** Creates the app role, and lets us become it. Roles belong to the whole cluster: other databases may do the same now. */
export async function ensureAppRole(sql: SqlRunner): Promise<void> {
  const current = await currentRole(sql)
  if (!current.bypasses) return
  const [existing] = await sql<{ bypasses: boolean }[]>`
    select rolsuper or rolbypassrls as bypasses from pg_roles where rolname = ${APP_ROLE}`
  if (existing?.bypasses) {
    throw new SetupError(
      `The role "${APP_ROLE}" may bypass row-level security: run "alter role ${APP_ROLE} nosuperuser nobypassrls"`,
    )
  }
  if (!existing) await createAppRole(sql)
  await grantMembership(sql, current.name)
}

/** Needs a transaction that holds the migration lock: grants to the same tables cannot run at once. */
export async function grantToAppRole(sql: SqlRunner, readOnly: readonly string[]): Promise<void> {
  const role = sql(APP_ROLE)
  await sql`grant usage on schema public to ${role}`
  await sql`grant select, insert, update, delete on all tables in schema public to ${role}`
  await sql`grant usage, select on all sequences in schema public to ${role}`
  for (const table of readOnly)
    await sql`revoke insert, update, delete on ${sql(table)} from ${role}`
}

/** Refuses to serve as a role that bypasses row-level security. */
export async function assertRowLevelSecurity(sql: SqlRunner): Promise<void> {
  const { name, bypasses } = await currentRole(sql)
  if (!bypasses) return
  throw new SetupError(
    `The service is connected as "${name}", a superuser or a role with BYPASSRLS, which would see every site's rows: ` +
      'connect to Postgres without a pooler that drops the "role" parameter, or as an ordinary role that owns the tables',
  )
}

async function createAppRole(sql: SqlRunner): Promise<void> {
  try {
    await sql`create role ${sql(APP_ROLE)} nologin nosuperuser nobypassrls`
  } catch (error) {
    if (!hasCode(error, ...LOST_RACE)) throw error
  }
}

/** A superuser may become anyone; a creator of roles has to be let in. */
async function grantMembership(sql: SqlRunner, name: string): Promise<void> {
  const [granted] = await sql<{ may: boolean }[]>`
    select pg_has_role(current_user, ${APP_ROLE},
      case when current_setting('server_version_num')::int < 160000 then 'MEMBER' else 'SET' end) as may`
  if (granted?.may) return
  try {
    await sql`grant ${sql(APP_ROLE)} to ${sql(name)}`
  } catch (cause) {
    throw new SetupError(
      `"${name}" bypasses row-level security and may not become "${APP_ROLE}", which Croft works as: ` +
        `run "grant ${APP_ROLE} to ${name}" as a superuser, or connect as an ordinary role that owns the database`,
      { cause },
    )
  }
}

async function currentRole(sql: SqlRunner): Promise<{ name: string; bypasses: boolean }> {
  const [role] = await sql<{ name: string; bypasses: boolean }[]>`
    select rolname as name, rolsuper or rolbypassrls as bypasses
    from pg_roles where rolname = current_user`
  if (!role) throw new Error('The current role is not in pg_roles')
  return role
}

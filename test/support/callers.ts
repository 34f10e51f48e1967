import { randomBytes } from 'node:crypto'

import { SignJWT, decodeJwt, decodeProtectedHeader, generateKeyPair } from 'jose'

import type { DeployTokenScope } from '#identity/deploy-tokens/model.ts'
import type { PoolKind } from '#identity/pool-kind.ts'

import { RelyingParty } from './relying-party.ts'
import type { CalledSite, Caller } from './route-walk.ts'
import type { Stack } from './stack.ts'

export type Secrets = Readonly<Record<string, string>>

/** Where the callers of one site come from. */
export interface CallerOrigins {
  readonly stack: Stack
  /** The same service with a clock that is slow. */
  readonly earlier: Stack
  readonly host: string
  /** What other sites gave out. */
  readonly others: Secrets
}

/** What the site `host` gives out, which opens nothing of another one. */
export const othersOf = async (stack: Stack, host: string): Promise<Secrets> => ({
  'other admin': await stack.adminToken(host),
  'other visitor': await stack.dataToken(host),
  'other deploy': await deployToken(stack, host, ['deploy', 'logs', 'iac']),
})

/** A new site, and its callers. Paths name its pool of that kind. */
export async function openCalledSite(
  origins: CallerOrigins,
  kind: PoolKind = 'data',
): Promise<CalledSite> {
  const { stack, host } = origins
  await stack.createSite({ domain: host, superAdmins: [`ann@${host}`, `old@${host}`] })
  await stack.inSite(host, (tx) =>
    tx.db.updateTable('pool_user').set({ status: 'ACTIVE' }).execute(),
  )
  const { userPoolId } = (await RelyingParty.of(stack, host, kind)).pool
  const names = { userPoolId, siteId: host, address: `absent@${host}`, sha256: '0'.repeat(64) }
  return { host, names, callers: await callersOf(origins) }
}

/** Every kind of caller of the site `host`: strangers first, then its people, then its deploy tokens, then the operator. */
async function callersOf(origins: CallerOrigins): Promise<Caller[]> {
  const { stack, earlier, host, others } = origins
  const [visitor, admin] = [`vic@${host}`, `ann@${host}`]
  const secrets = {
    none: undefined,
    forged: await forgedToken(await stack.adminToken(host)),
    ...others,
    'unknown deploy': `croft_deploy_${randomBytes(32).toString('base64url')}`,
    visitor: await stack.dataToken(host, { user: visitor }),
    user: await stack.adminToken(host, 'user'),
    admin: await stack.adminToken(host, 'admin'),
    'super-admin': await stack.adminToken(host),
    'super-admin 30 min': await earlierToken(earlier, host),
    deploy: await deployToken(stack, host, ['deploy']),
    logs: await deployToken(stack, host, ['logs']),
    iac: await deployToken(stack, host, ['iac']),
    operator: stack.operatorKey,
  }
  const cookies = new Map([
    ['visitor', await sessions(origins, 'data', visitor)],
    ['super-admin', await sessions(origins, 'admin', admin)],
  ])
  return Object.entries(secrets).map(([name, secret]) => {
    const cookie = cookies.get(name)
    return { name, secret, ...(cookie && { cookie }) }
  })
}

/** What a token says, signed with a key that is not the site's. */
async function forgedToken(token: string): Promise<string> {
  const { privateKey } = await generateKeyPair('RS256')
  const { alg = 'RS256', ...header } = decodeProtectedHeader(token)
  return new SignJWT(decodeJwt(token)).setProtectedHeader({ ...header, alg }).sign(privateKey)
}

/** Of an account of its own: another caller's sign-out does not reach it. */
async function earlierToken(earlier: Stack, host: string): Promise<string> {
  const site = await earlier.context.sites.find(host)
  const request = { user: `old@${host}`, pool: 'admin', use: 'access', groups: [] } as const
  return (await earlier.context.tokenMint.mint(site, request)).token
}

async function deployToken(
  stack: Stack,
  host: string,
  scopes: readonly DeployTokenScope[],
): Promise<string> {
  const name = scopes.join(' ')
  const created = await stack.portal('POST', `/sites/${host}/deploy-tokens`, { name, scopes })
  if (created.status >= 300) throw new Error(`No deploy token: ${created.text}`)
  return created.json.token
}

async function sessions(
  { stack, host }: CallerOrigins,
  kind: PoolKind,
  email: string,
): Promise<() => Promise<string>> {
  const party = await RelyingParty.of(stack, host, kind)
  const sub = await party.user(email)
  return async () => (await party.signIn(sub)).cookie
}

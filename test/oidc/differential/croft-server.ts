import { SignJWT, decodeJwt, decodeProtectedHeader } from 'jose'

import { RelyingParty } from '#test/relying-party.ts'
import type { Stack } from '#test/stack.ts'
import { asSuperuser } from '#test/superuser.ts'

import { AuthorizationServer } from './authorization-server.ts'

const EMAIL = 'vic@example.org'

/** The visitors' pool of a site of ours. */
export async function croftServer(stack: Stack, host: string): Promise<AuthorizationServer> {
  const party = await RelyingParty.of(stack, host)
  const { pool, site } = party
  const other = [...pool.clients.keys()].find((clientId) => clientId !== pool.clientId)
  if (other === undefined) throw new Error('The pool has one client only')
  const sub = await party.user(EMAIL)

  async function resign(token: string, changes: object): Promise<string> {
    const { key } = await stack.context.signingKeys.signer(site, pool)
    const { alg = '', ...header } = decodeProtectedHeader(token)
    return new SignJWT({ ...decodeJwt(token), ...changes })
      .setProtectedHeader({ ...header, alg })
      .sign(key)
  }

  return new AuthorizationServer({
    issuer: pool.issuer,
    port: stack.port,
    clientId: pool.clientId,
    otherClientId: other,
    redirectUri: party.redirectUri,
    logoutUri: party.logoutUri,
    signInPath: /\/login$/,
    signIn: async () => (await party.signIn(sub)).cookie,
    resign,
    async expire(kind, token) {
      if (kind === 'access') return resign(token, { exp: Math.floor(Date.now() / 1000) - 1 })
      await asSuperuser(stack, async (sql) => {
        await sql`update authorization_code set expires_at = now() - interval '1 second'`
        await sql`update refresh_family set expires_at = now() - interval '1 second'`
      })
      return token
    },
  })
}

import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'

import { AppError } from '#base/app-error.ts'
import type { AppContext } from '#context'
import { linkCookie } from '#http/oidc/provider.ts'
import { OWNER_PROOF, provenBy } from '#http/plugins/effects.ts'
import { publicSite } from '#http/plugins/site.ts'
import { visitorAuth } from '#http/plugins/visitor-auth.ts'
import { originOf } from '#http/request-origin.ts'
import { LinkRequest } from '#identity/federation/links.ts'
import type { PoolRequest } from '#identity/pool-request.ts'
import type { ProofAction } from '#identity/proof-action.ts'
import type { Proof, ProofSubject } from '#identity/proofs/model.ts'
import type { FreshVisitorToken } from '#identity/tokens/visitor-tokens.ts'

import { Ok, ok } from './auth-response.ts'

/** What the account's owner gives with the request that moves it, as on the forms of the account's page. */
const Proven = Type.Object({
  proof: Type.Optional(
    Type.Object(
      {
        currentPassword: Type.Optional(Type.String({ maxLength: 4096 })),
        proofCode: Type.Optional(Type.String({ maxLength: 64 })),
        passkey: Type.Optional(
          Type.Object({
            credential: Type.Record(Type.String(), Type.Unknown(), { maxProperties: 16 }),
            challenge: Type.String({ maxLength: 500 }),
          }),
        ),
      },
      { additionalProperties: false, minProperties: 1 },
    ),
  ),
})

const ProofStart = Type.Object(
  {
    action: Type.Union([Type.Literal('password'), Type.Literal('google')]),
    method: Type.Union([Type.Literal('code'), Type.Literal('passkey')]),
  },
  { additionalProperties: false },
)

/** Of a mailed code, or of a passkey's request (`PublicKeyCredentialRequestOptionsJSON`). */
const ProofStarted = Type.Object({
  sentTo: Type.Optional(Type.String()),
  expiresAt: Type.Optional(Type.Date()),
  options: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  challenge: Type.Optional(Type.String()),
})

/** 403 `RecentSignInRequired` without one: neither a token nor how recent its sign-in is moves an account. */
function givenProof(proof: Static<typeof Proven>['proof']): Proof {
  if (proof === undefined) {
    throw new AppError(
      'RecentSignInRequired',
      'This needs a proof of the account’s owner: send "proof" with "currentPassword", "passkey" or "proofCode" (POST /data/auth/proof/start)',
    )
  }
  const { passkey, ...rest } = proof
  return passkey === undefined
    ? rest
    : { ...rest, passkey: { ...passkey, credential: JSON.stringify(passkey.credential) } }
}

async function startedProof(
  { proofs }: AppContext,
  call: PoolRequest,
  subject: ProofSubject,
  method: Static<typeof ProofStart>['method'],
): Promise<Static<typeof ProofStarted>> {
  if (method === 'passkey') return proofs.passkeyRequest(call, subject)
  const { email, expiresAt } = await proofs.mailCode(call, subject)
  return { sentTo: email, expiresAt }
}

const subjectOf = (
  { sub, familyId = '' }: FreshVisitorToken,
  action: ProofAction,
): ProofSubject => ({ sub, signIn: familyId, action })

const LinkStarted = Type.Object({
  authorizeUrl: Type.String(),
  clientId: Type.String(),
  expiresAt: Type.Date(),
})

/** The length of the password is the policy's to judge, with words for people. */
const PasswordAddition = Type.Composite(
  [Type.Object({ password: Type.String({ maxLength: 4096 }) }), Proven],
  { additionalProperties: false },
)

/** What visitors add to the ways in which they sign in, with a proof that the account is theirs. */
export const dataAuthAdditionRoutes = (context: AppContext) =>
  new Elysia({ prefix: '/data' })
    .use(publicSite(context))
    .use(visitorAuth(context))
    .post(
      '/auth/proof/start',
      async ({ site, signedIn, body, request, set }) => {
        set.headers['cache-control'] = 'no-store'
        const call = { site, pool: signedIn.pool, origin: originOf(request) }
        const subject = subjectOf(signedIn, body.action)
        return ok(await startedProof(context, call, subject, body.method))
      },
      {
        visitor: true,
        changes: { audit: 'page', effects: [] },
        body: ProofStart,
        response: Ok(ProofStarted),
      },
    )
    .post(
      '/auth/providers/google/link/start',
      async ({ site, signedIn, body: { proof, ...link }, request, set }) => {
        const call = { site, pool: signedIn.pool, origin: originOf(request) }
        // Stores nothing: an invalid request is refused before a proof is used up.
        const { bindingToken, ...started } = await context.links.start(site, signedIn, link)
        const subject = subjectOf(signedIn, 'google')
        await context.proofs.run(call, subject, givenProof(proof), () => Promise.resolve())
        set.headers['cache-control'] = 'no-store'
        set.headers['set-cookie'] = linkCookie(signedIn.pool, { ...started, bindingToken })
        return ok(started)
      },
      {
        visitor: true,
        changes: { audit: 'page', effects: provenBy(OWNER_PROOF, ['movesAccount']) },
        body: Type.Composite([LinkRequest, Proven], { additionalProperties: false }),
        response: Ok(LinkStarted),
      },
    )
    .post(
      '/auth/password/add',
      async ({ site, signedIn, body: { proof, password }, request }) => {
        const { pool, sub } = signedIn
        const call = { site, pool, origin: originOf(request) }
        await context.ownPasswords.requireNone(call, sub)
        await context.proofs.run(call, subjectOf(signedIn, 'password'), givenProof(proof), () =>
          context.ownPasswords.add(call, { sub, password }),
        )
        return ok({ passwordEnabled: true as const })
      },
      {
        visitor: true,
        changes: { audit: ['password.added'], effects: provenBy(OWNER_PROOF, ['movesAccount']) },
        body: PasswordAddition,
        response: Ok(Type.Object({ passwordEnabled: Type.Literal(true) })),
      },
    )

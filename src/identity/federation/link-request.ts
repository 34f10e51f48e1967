import { type Static, Type } from '@sinclair/typebox'

/** What the site's application says when a visitor wants to add Google to their account. It keeps the PKCE verifier. */
export const LinkRequest = Type.Object(
  {
    redirectUri: Type.String({ minLength: 1, maxLength: 2048 }),
    codeChallenge: Type.String({ pattern: '^[\\w-]{43}$' }),
    codeChallengeMethod: Type.Literal('S256'),
    state: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
    nonce: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
  },
  { additionalProperties: false },
)
export type LinkRequest = Static<typeof LinkRequest>

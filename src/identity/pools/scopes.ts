/** Default of what is asked of the hosted sign-in, and of a provider. */
export const SCOPES = ['openid', 'email', 'profile']

/** Cognito's scope for its JSON API; sign-ins through that API have it alone, and get an id token with it. */
export const COGNITO_API_SCOPE = 'aws.cognito.signin.user.admin'

/** Names that stand for something already, here or in OpenID Connect. */
export const RESERVED_SCOPES: readonly string[] = [
  ...SCOPES,
  'address',
  'phone',
  'offline_access',
  COGNITO_API_SCOPE,
]

export const scopesOf = (scope: string): readonly string[] =>
  scope.split(' ').filter((word) => word !== '')

export const givesIdToken = (scope: string): boolean =>
  scopesOf(scope).some((word) => word === 'openid' || word === COGNITO_API_SCOPE)

import {
  associateWebAuthnCredential,
  confirmSignIn,
  confirmUserAttribute,
  deleteUser,
  deleteWebAuthnCredential,
  fetchAuthSession,
  fetchUserAttributes,
  getCurrentUser,
  listWebAuthnCredentials,
  signIn,
  signOut,
  updateUserAttributes,
} from '@aws-amplify/auth'
import { cognitoUserPoolsTokenProvider as tokenProvider } from '@aws-amplify/auth/cognito'
import { Amplify } from '@aws-amplify/core'

/** The tokens of now, as texts; fresh ones if that is asked. */
const tokens = async (options) => {
  const session = await fetchAuthSession(options)
  const texts = Object.entries(session.tokens ?? {})
    .filter(([name]) => /^(?:access|id)Token$/.test(name))
    .map(([name, token]) => [name, token.toString()])
  return Object.fromEntries(texts)
}

const functions = {
  associateWebAuthnCredential,
  confirmSignIn,
  confirmUserAttribute,
  deleteUser,
  deleteWebAuthnCredential,
  fetchUserAttributes,
  getCurrentUser,
  listWebAuthnCredentials,
  signIn,
  signOut,
  tokens,
  updateUserAttributes,
}

/** Amazon's own library for browsers, as a page of a site has it: its functions by name. */
globalThis.configure = (Cognito) => {
  tokenProvider.setAuthConfig({ Cognito })
  Amplify.configure({ Auth: { Cognito } }, { Auth: { tokenProvider } })
}
globalThis.call = (name, ...input) =>
  functions[name](...input).catch((error) => ({ failed: error.name, message: error.message }))

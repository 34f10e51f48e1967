import { type ParameterCheck, invalidRequestError, authorizationError } from './check.ts'

/** Character by character: anything cleverer has been an open redirect somewhere (RFC 9700 section 4.1). */
export const registeredRedirectUri: ParameterCheck = ({ client, values, repeated }) => {
  if (repeated.includes('redirect_uri'))
    return invalidRequestError('redirect_uri is there more than once')
  const uri = values.get('redirect_uri')
  if (uri === undefined) return invalidRequestError('redirect_uri is missing')
  return client?.redirectUris.includes(uri)
    ? undefined
    : authorizationError(
        'invalid_redirect_uri',
        'redirect_uri is not one that the client has registered',
      )
}

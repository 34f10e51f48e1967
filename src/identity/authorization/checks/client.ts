import { type ParameterCheck, authorizationError, invalidRequestError } from './check.ts'

/** With the rest of a request's head it stays under what servers and proxies let through. */
const MAX_LENGTH = 8192

export const boundedLength: ParameterCheck = ({ length }) =>
  length > MAX_LENGTH
    ? invalidRequestError(`The request is longer than ${MAX_LENGTH} characters`)
    : undefined

export const knownClient: ParameterCheck = ({ client, values, repeated }) => {
  if (repeated.includes('client_id'))
    return invalidRequestError('client_id is there more than once')
  if (!values.has('client_id')) return invalidRequestError('client_id is missing')
  return client ? undefined : authorizationError('invalid_client', 'There is no such client here')
}

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

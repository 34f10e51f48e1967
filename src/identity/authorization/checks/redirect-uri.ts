import { type Check, invalidRequest, refused } from './check.ts'

/** Character by character: anything cleverer has been an open redirect somewhere (RFC 9700 section 4.1). */
export const registeredRedirectUri: Check = ({ client, values, repeated }) => {
  if (repeated.includes('redirect_uri'))
    return invalidRequest('redirect_uri is there more than once')
  const uri = values.get('redirect_uri')
  if (uri === undefined) return invalidRequest('redirect_uri is missing')
  return client?.redirectUris.includes(uri)
    ? undefined
    : refused('invalid_redirect_uri', 'redirect_uri is not one that the client has registered')
}

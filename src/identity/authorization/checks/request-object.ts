import { type Check, refused } from './check.ts'

/** OpenID Connect Core sections 6 and 7.2.1: ignoring one would drop what the client asks for in it. */
export const noRequestObject: Check = ({ values }) => {
  if (values.has('request')) return refused('request_not_supported', 'request is not supported')
  if (values.has('request_uri')) {
    return refused('request_uri_not_supported', 'request_uri is not supported')
  }
  return values.has('registration')
    ? refused('registration_not_supported', 'registration is not supported')
    : undefined
}

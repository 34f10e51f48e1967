import { type ParameterCheck, authorizationError, invalidRequestError } from './check.ts'

/** OpenID Connect Core sections 6 and 7.2.1: ignoring one would drop what the client asks for in it. */
export const noRequestObject: ParameterCheck = ({ values }) => {
  if (values.has('request'))
    return authorizationError('request_not_supported', 'request is not supported')
  if (values.has('request_uri')) {
    return authorizationError('request_uri_not_supported', 'request_uri is not supported')
  }
  return values.has('registration')
    ? authorizationError('registration_not_supported', 'registration is not supported')
    : undefined
}

export const queryResponse: ParameterCheck = ({ values }) =>
  (values.get('response_mode') ?? 'query') === 'query'
    ? undefined
    : authorizationError(
        'unsupported_response_mode',
        'response_mode must be "query", or be left out',
      )

export const codeResponse: ParameterCheck = ({ values }) => {
  const type = values.get('response_type')
  if (type === undefined) return invalidRequestError('response_type is missing')
  return type === 'code'
    ? undefined
    : authorizationError('unsupported_response_type', 'response_type must be "code"')
}

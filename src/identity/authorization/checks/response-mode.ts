import { type ParameterCheck, authorizationError } from './check.ts'

export const queryResponse: ParameterCheck = ({ values }) =>
  (values.get('response_mode') ?? 'query') === 'query'
    ? undefined
    : authorizationError(
        'unsupported_response_mode',
        'response_mode must be "query", or be left out',
      )

import { type ParameterCheck, invalidRequestError, authorizationError } from './check.ts'

export const codeResponse: ParameterCheck = ({ values }) => {
  const type = values.get('response_type')
  if (type === undefined) return invalidRequestError('response_type is missing')
  return type === 'code'
    ? undefined
    : authorizationError('unsupported_response_type', 'response_type must be "code"')
}
